// Memory for decoded images that is used again and again: fresh pages for every image would cost more than half of its
// decode.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/allocator.hpp"

namespace chexbench::pipeline {

class ExamplePool;

// Gives the memory back to its pool, which it keeps alive.
struct ReturnToPool {
  std::shared_ptr<ExamplePool> pool;
  void operator()(std::byte* memory) const;
};
using ExampleMemory = std::unique_ptr<std::byte, ReturnToPool>;

// Blocks of one size, as many as are needed: the ops that hold them are what bounds their number. Thread-safe.
class ExamplePool : public std::enable_shared_from_this<ExamplePool> {
 public:
  explicit ExamplePool(std::size_t block_bytes) : block_bytes_(block_bytes) {}
  ~ExamplePool();
  ExamplePool(const ExamplePool&) = delete;
  ExamplePool& operator=(const ExamplePool&) = delete;

  // A block aligned to 64, contents undefined. @throws std::bad_alloc
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
