#include "pipeline/example_pool.hpp"

#include <new>

namespace chexbench::pipeline {

void ReturnToPool::operator()(std::byte* memory) const { pool->put_back(memory); }

ExamplePool::~ExamplePool() {
  for (std::byte* block : free_) host_allocator().deallocate(block, block_bytes_);
}

ExampleMemory ExamplePool::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      std::byte* block = free_.back();
      free_.pop_back();
      return {block, ReturnToPool{shared_from_this()}};
    }
  }
  return {host_allocator().allocate(block_bytes_), ReturnToPool{shared_from_this()}};
}

void ExamplePool::put_back(std::byte* memory) {
  const std::lock_guard lock(mutex_);
  try {
    free_.push_back(memory);
  } catch (const std::bad_alloc&) {  // a deleter must not throw
    host_allocator().deallocate(memory, block_bytes_);
  }
}

}  // namespace chexbench::pipeline
