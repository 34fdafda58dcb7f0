// Memory for decoded images that is reused: fresh pages for every image would cost more than half as much time as
// decoding it.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/allocator.hpp"

namespace chexbench::pipeline {

class ExamplePool;

// A deleter that returns the memory to its pool. It keeps the pool alive.
struct ReturnToPool {
  std::shared_ptr<ExamplePool> pool;
  void operator()(std::byte* memory) const;
};
using ExampleMemory = std::unique_ptr<std::byte, ReturnToPool>;

// Gives out blocks of one size. The pool itself has no limit: the ops that hold the blocks limit their number.
// Thread-safe. Create it with std::make_shared.
class ExamplePool : public std::enable_shared_from_this<ExamplePool> {
 public:
  explicit ExamplePool(std::size_t block_bytes) : block_bytes_(block_bytes) {}
  ~ExamplePool();
  ExamplePool(const ExamplePool&) = delete;
  ExamplePool& operator=(const ExamplePool&) = delete;

  // Returns a block of block_bytes(), aligned to 64 bytes, with undefined contents. Does not wait.
  // @throws std::bad_alloc
  ExampleMemory acquire();
  std::size_t block_bytes() const { return block_bytes_; }

 private:
  friend struct ReturnToPool;
  void put_back(std::byte* memory);

  const std::size_t block_bytes_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace chexbench::pipeline
