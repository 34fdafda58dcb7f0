#include "pipeline/example_pool.hpp"

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
  free_.push_back(memory);
}

}  // namespace chexbench::pipeline
