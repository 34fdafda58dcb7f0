// Where batch memory comes from: the engine decides (pinned where that helps an upload).
#pragma once

#include <cstddef>

namespace chexbench {

// Allocates long-lived host buffers. Implementations are thread-safe.
class PinnedAllocator {
 public:
  virtual ~PinnedAllocator() = default;
  // At least `bytes` bytes, aligned to 64. Never null. @throws std::bad_alloc, DeviceError
  virtual std::byte* allocate(std::size_t bytes) = 0;
  // Gives back what allocate(bytes) of this allocator returned.
  virtual void deallocate(std::byte* memory, std::size_t bytes) noexcept = 0;
};

// Plain page-aligned host memory; large buffers ask for huge pages. One instance for the process.
PinnedAllocator& host_allocator();

}  // namespace chexbench
