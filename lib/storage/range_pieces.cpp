#include "storage/range_pieces.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace chexbench::storage {
namespace {

constexpr std::size_t kLooseBytes = std::size_t{256} << 10;      // taken as memory at once until a piece is found
constexpr std::size_t kLeastPieceBytes = std::size_t{64} << 10;  // copying a smaller one costs less

}  // namespace

RangePieces::RangePieces(std::span<std::byte> memory) : size_(memory.size()) {
  pieces_.push_back({.owner = nullptr, .memory = memory});
}

RangePieces::RangePieces(std::size_t bytes, BlockPool& blocks, const PieceFinder& finder)
    : size_(bytes), blocks_(&blocks), finder_(finder), looks_(finder.find != nullptr) {}

std::span<std::byte> RangePieces::room() {
  if (filled_ == size_) return {};
  if (pieces_.empty() || pieces_.back().used == pieces_.back().memory.size()) begin(0);
  return pieces_.back().memory.subspan(pieces_.back().used);
}

void RangePieces::add(std::size_t bytes) {
  pieces_.back().used += bytes;
  filled_ += bytes;
  if (found_ > 0) {
    end_found();
  } else if (looks_) {
    look_for_piece();
  }
}

void RangePieces::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> to = room();
    const std::size_t count = std::min(to.size(), bytes.size());
    std::memcpy(to.data(), bytes.data(), count);
    add(count);
    bytes = bytes.subspan(count);
  }
}

void RangePieces::clear() {
  filled_ = taken_ = found_ = looked_at_ = 0;
  looks_ = finder_.find != nullptr;
  if (blocks_ != nullptr) {
    pieces_.clear();
  } else {
    pieces_.front().used = 0;
  }
}

RangePieces::Taken RangePieces::take(std::size_t bytes) {
  while (!pieces_.empty() && pieces_.front().taken == pieces_.front().used) pieces_.pop_front();
  if (pieces_.empty()) return {};
  Piece& first = pieces_.front();
  const std::size_t rest = first.used - first.taken;
  const std::span<std::byte> part = first.memory.subspan(first.taken, std::min(bytes, rest));
  first.taken += part.size();
  taken_ += part.size();
  const bool is_most_of_it = part.size() == rest && 2 * part.size() >= first.memory.size();
  return {.view = {part, first.owner}, .is_most_of_its_memory = is_most_of_it};
}

// A found piece is followed by space for the head of the next one, which then arrives with it.
void RangePieces::begin(std::size_t found) {
  const std::size_t left = size_ - filled_;
  found_ = std::min(found, left);
  looked_at_ = 0;
  const std::size_t wanted = found > 0 ? found_ + finder_.head_bytes : looks_ ? kLooseBytes : left;
  const std::size_t bytes = std::min(wanted, left);
  std::shared_ptr<std::byte[]> block = blocks_->take(bytes);
  const std::span<std::byte> memory(block.get(), bytes);
  pieces_.push_back({.owner = std::move(block), .memory = memory});
}

void RangePieces::look_for_piece() {
  const Piece& last = pieces_.back();
  const std::size_t unseen = last.used - looked_at_;
  const std::optional<FoundPiece> found = finder_.find(last.memory.subspan(looked_at_, unseen));
  if (!found) {
    looked_at_ = last.used - std::min(unseen, finder_.head_bytes - 1);
  } else if (found->bytes < kLeastPieceBytes) {
    looks_ = false;
  } else {
    split(unseen - found->at, found->bytes);
  }
}

void RangePieces::end_found() {
  const Piece& last = pieces_.back();
  if (last.used < last.memory.size() || last.used == found_) return;
  const std::size_t head = last.used - found_;
  const std::optional<FoundPiece> next = finder_.find(last.memory.subspan(found_, head));
  looks_ = !next || next->bytes >= kLeastPieceBytes;
  split(head, next && looks_ ? next->bytes : 0);
}

void RangePieces::split(std::size_t bytes, std::size_t found) {
  Piece& last = pieces_.back();
  last.used -= bytes;
  filled_ -= bytes;
  const std::span<const std::byte> moved = last.memory.subspan(last.used, bytes);
  begin(found);
  append(moved);
}

}  // namespace chexbench::storage
