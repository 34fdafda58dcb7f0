// Memory of what is on its way from a server.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace chexbench::storage {

// Blocks that come back are given out again, as they are: fresh pages for each range and each record cost half of what
// receiving them does, and streams that end together at an epoch's end give back all at once. So all is kept up
// to one and a half times the most that was in use at once, as records come in several sizes; the rest goes back to the
// system. Thread-safe. A block may outlive its pool.
class BlockPool {
 public:
  // At least `bytes` bytes, contents undefined; given back with the last owner. @throws std::bad_alloc
  std::shared_ptr<std::byte[]> take(std::size_t bytes);
  // Bytes of blocks that wait for their next use.
  std::size_t idle_bytes() const { return shelves_->idle_bytes(); }

 private:
  using Block = std::unique_ptr<std::byte[]>;
  // Free blocks by size. Held by the blocks as well.
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
