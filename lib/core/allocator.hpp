// The interface through which a BatchPool gets its memory. The engine supplies the implementation, so that batches are
// in page-locked ("pinned") memory if that speeds up uploads to its device.
#pragma once

#include <cstddef>

namespace chexbench {

// Allocates long-lived host buffers. Implementations are thread-safe and must outlive the memory that they returned.
class PinnedAllocator {
 public:
  virtual ~PinnedAllocator() = default;
  // Returns at least `bytes` bytes of uninitialized memory, aligned to 64 bytes. Never null; the caller owns the memory
  // and returns it with deallocate().
  // @throws std::bad_alloc if there is not enough memory
  // @throws DeviceError if the memory comes from a device driver that refuses
  virtual std::byte* allocate(std::size_t bytes) = 0;
  // Frees `memory`, which allocate(bytes) of the same allocator returned.
  virtual void deallocate(std::byte* memory, std::size_t bytes) noexcept = 0;
};

// Returns the process's allocator of ordinary host memory. Buffers are aligned to pages (4 KiB); from 2 MiB on they are
// aligned to 2 MiB and ask the kernel for huge pages. Its allocate() throws std::bad_alloc only.
PinnedAllocator& host_allocator();

// Limits glibc's malloc to one arena per CPU that this process may run on, unless the variable MALLOC_ARENA_MAX already
// sets a number. By default there are up to eight per CPU, each with free memory that no other can use, so that the
// memory of a long run grows for hours. Call it before other threads start.
void limit_malloc_arenas();

}  // namespace chexbench
