#include "pipeline/element.hpp"

#include <algorithm>
#include <new>

namespace chexbench::pipeline {

std::int64_t Element::images() const {
  if (std::holds_alternative<Example>(value)) return 1;
  if (const auto* batch = std::get_if<BatchLease>(&value)) return (*batch)->valid;
  return 0;
}

std::int64_t Element::held_bytes(std::size_t image_bytes) const {
  if (std::holds_alternative<Example>(value)) return static_cast<std::int64_t>(image_bytes);
  if (const auto* batch = std::get_if<BatchLease>(&value)) return static_cast<std::int64_t>((*batch)->shape.bytes());
  return 0;
}

void expand_labels(const LabelBits& labels, std::span<float> out) {
  std::ranges::fill(out, 0.0f);
  labels.for_each([&](std::size_t label) { out[label] = 1.0f; });
  for (std::size_t label = 0; label < std::min(out.size(), LabelBits::kMostIgnored); ++label) {
    if (labels.is_ignored(label)) out[label] = kIgnoredLabel;
  }
}

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
