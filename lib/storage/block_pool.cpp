#include "storage/block_pool.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace chexbench::storage {
namespace {

constexpr std::size_t kStepBytes = std::size_t{64} << 10;  // sizes are rounded up to it, so that blocks fit again

}  // namespace

BlockPool::Block BlockPool::Shelves::take(std::size_t bytes) {
  {
    const std::scoped_lock lock(mutex_);
    used_bytes_ += bytes;
    most_used_bytes_ = std::max(most_used_bytes_, used_bytes_);
    const auto shelf = free_.find(bytes);
    if (shelf != free_.end() && !shelf->second.empty()) {
      Block block = std::move(shelf->second.back());  // the most recently used one is the likeliest to be cached
      shelf->second.pop_back();
      idle_bytes_ -= bytes;
      return block;
    }
  }
  try {
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    const std::scoped_lock lock(mutex_);
    used_bytes_ -= bytes;
    throw;
  }
}

void BlockPool::Shelves::put_back(Block block, std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  used_bytes_ -= bytes;
  if (used_bytes_ + idle_bytes_ + bytes > most_used_bytes_ + most_used_bytes_ / 2) return;
  try {
    free_[bytes].push_back(std::move(block));
    idle_bytes_ += bytes;
  } catch (const std::bad_alloc&) {  // a deleter must not throw: the block is freed instead
  }
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

}  // namespace chexbench::storage
