#include "data/store/block_pool.hpp"

#include <utility>

namespace chexbench::data {
namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;      // sizes are rounded up to it, so that records share them
constexpr std::size_t kMostIdleBytes = std::size_t{512} << 20;  // more than that goes back to the system

}  // namespace

BlockPool::Block BlockPool::Shelves::take(std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    const auto shelf = free_.find(bytes);
    if (shelf != free_.end() && !shelf->second.empty()) {
      Block block = std::move(shelf->second.back());  // the one used last: the likeliest to be in a cache
      shelf->second.pop_back();
      idle_bytes_ -= bytes;
      return block;
    }
  }
  return std::make_unique_for_overwrite<std::byte[]>(bytes);
}

void BlockPool::Shelves::put_back(Block block, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (idle_bytes_ + bytes > kMostIdleBytes) return;
  free_[bytes].push_back(std::move(block));
  idle_bytes_ += bytes;
}

std::size_t BlockPool::Shelves::idle_bytes() const {
  const std::scoped_lock lock(mutex_);
  return idle_bytes_;
}

std::shared_ptr<std::byte[]> BlockPool::take(std::size_t bytes) {
  if (bytes < kStepBytes) return std::make_shared_for_overwrite<std::byte[]>(bytes);
  const std::size_t whole = (bytes + kStepBytes - 1) / kStepBytes * kStepBytes;
  Block block = shelves_->take(whole);
  std::byte* const memory = block.release();
  return {memory, [shelves = shelves_, whole](std::byte* given) { shelves->put_back(Block(given), whole); }};
}

}  // namespace chexbench::data
