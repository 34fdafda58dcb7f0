#include "storage/range_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "storage/untrusted.hpp"

namespace chexbench::storage {
namespace {

// A range of the object that is requested or has arrived. The stream and the thread that reads share it, because the
// stream may be destroyed first.
class Part {
 public:
  Part(std::uint64_t first, std::size_t bytes, std::shared_ptr<BlockPool> blocks, const PieceFinder& finder)
      : first_(first), blocks_(std::move(blocks)), pieces_(bytes, *blocks_, finder) {}

  void fetch(const RangedFile& file) {
    std::exception_ptr failure;
    try {
      const std::function<bool()> wanted = [this] { return !abandoned_; };
      if (wanted()) file.read(first_, pieces_, wanted);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    failure_ = failure;
    is_here_ = true;
    arrived_.notify_all();
  }
  // Waits for the range. Returns false if `stop` was requested first. Rethrows what fetch() caught.
  bool wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait(lock, stop, [this] { return is_here_; })) return false;
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }
  void abandon() { abandoned_ = true; }
  // Of a range that has arrived.
  RangePieces& pieces() { return pieces_; }

 private:
  const std::uint64_t first_;
  const std::shared_ptr<BlockPool> blocks_;
  RangePieces pieces_;
  std::atomic<bool> abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  bool is_here_ = false;
  std::exception_ptr failure_;
};

class RangeStream final : public ByteStream {
 public:
  RangeStream(RangedFile file, ThreadPool& pool, const RangePlan& plan, std::stop_token stop)
      : file_(std::make_shared<const RangedFile>(std::move(file))), pool_(pool), plan_(plan), stop_(std::move(stop)) {}
  ~RangeStream() override {
    for (const auto& part : parts_) part->abandon();
  }
  const std::string& path() const override { return file_->path; }
  std::uint64_t size() const override { return file_->size; }

  void expect(const PieceFinder& finder) override { finder_ = finder; }

  // Gives a view of a piece that was received separately, and a copy of anything else: otherwise a shuffle buffer would
  // keep a whole part alive for each of its records.
  SharedBytes take(std::size_t bytes) override {
    if (bytes > kMostObjectBytes) {
      throw DataError(fmt::format("cannot read {}: a record of {} bytes is too large", path(), bytes));
    }
    if (bytes == 0) return {};
    std::optional<RangePieces::Taken> first = take_part(bytes);
    if (!first) return {};
    if (first->view.bytes.size() == bytes && first->is_most_of_its_memory) return first->view;
    return copy(*first, bytes);
  }

 private:
  // Returns the next bytes, `most` of them if contiguous, or std::nullopt once stopped.
  std::optional<RangePieces::Taken> take_part(std::size_t most) {
    if (parts_.empty()) ask_ahead();
    if (!parts_.front()->wait(stop_)) return {};
    RangePieces& pieces = parts_.front()->pieces();
    RangePieces::Taken taken = pieces.take(most);
    if (pieces.is_taken()) {
      parts_.pop_front();
      ask_ahead();
    }
    return taken;
  }

  // Returns a copy of `first` and the bytes after it.
  SharedBytes copy(const RangePieces::Taken& first, std::size_t bytes) {
    const std::shared_ptr<std::byte[]> memory = plan_.blocks->take(bytes);
    std::size_t done = 0;
    for (std::optional part = first; part; part = take_part(bytes - done)) {
      std::memcpy(memory.get() + done, part->view.bytes.data(), part->view.bytes.size());
      done += part->view.bytes.size();
      if (done == bytes) return {{memory.get(), bytes}, memory};
    }
    return {};
  }

  void ask_ahead() {
    while (parts_.size() < plan_.ahead && asked_ < size()) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(plan_.bytes, size() - asked_));
      const auto part = parts_.emplace_back(std::make_shared<Part>(asked_, bytes, plan_.blocks, finder_));
      asked_ += bytes;
      pool_.submit([part, file = file_] { part->fetch(*file); });
    }
  }

  const std::shared_ptr<const RangedFile> file_;
  ThreadPool& pool_;
  const RangePlan plan_;
  const std::stop_token stop_;
  std::deque<std::shared_ptr<Part>> parts_;  // in the order of the file
  std::uint64_t asked_ = 0;                  // bytes of the object that were requested so far
  PieceFinder finder_;
};

}  // namespace

std::unique_ptr<ByteStream> stream_ranges(RangedFile file, ThreadPool& pool, const RangePlan& plan,
                                          std::stop_token stop) {
  return std::make_unique<RangeStream>(std::move(file), pool, plan, std::move(stop));
}

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
