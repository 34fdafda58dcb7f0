// Reusable memory for the ranges and records that streams of distant stores hold.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace chexbench::storage {

// Hands out blocks of memory and reuses them, without clearing them, once their last owner releases them. Fresh pages
// for each range and each record would cost half as much time as receiving them. Streams that finish together at the
// end of an epoch release all their blocks at once, so the pool keeps up to 1.5 times the peak number of bytes in use
// (records vary in size) and returns the rest to the system. Thread-safe. A block may outlive its pool.
class BlockPool {
 public:
  // Returns at least `bytes` bytes with undefined contents. The block returns to the pool when its last owner releases
  // it; blocks of less than 64 KiB are not pooled.
  // @throws std::bad_alloc if the system has no memory left
  std::shared_ptr<std::byte[]> take(std::size_t bytes);
  // Returns the bytes of the free blocks that the pool keeps.
  std::size_t idle_bytes() const { return shelves_->idle_bytes(); }

 private:
  using Block = std::unique_ptr<std::byte[]>;
  // The free blocks by size. Each block in use shares ownership, so that it can be returned after the pool is
  // destroyed.
  class Shelves {
   public:
    Block take(std::size_t bytes);
    void put_back(Block block, std::size_t bytes);
    std::size_t idle_bytes() const;

   private:
    mutable std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<Block>> free_;
    std::size_t idle_bytes_ = 0, used_bytes_ = 0, most_used_bytes_ = 0;
  };
  const std::shared_ptr<Shelves> shelves_ = std::make_shared<Shelves>();
};

}  // namespace chexbench::storage
