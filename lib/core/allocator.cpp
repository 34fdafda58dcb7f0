#include "core/allocator.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace chexbench {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

class HostAllocator final : public PinnedAllocator {
 public:
  std::byte* allocate(std::size_t bytes) override {
    const bool huge = bytes >= kHugePageBytes;
    const std::size_t alignment = huge ? kHugePageBytes : kPageBytes;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) throw std::bad_alloc();
    if (huge) madvise(memory, rounded, MADV_HUGEPAGE);  // a hint: a kernel without huge pages may refuse
    return static_cast<std::byte*>(memory);
  }
  void deallocate(std::byte* memory, std::size_t) noexcept override { std::free(memory); }
};

}  // namespace

PinnedAllocator& host_allocator() {
  static HostAllocator instance;
  return instance;
}

void limit_malloc_arenas() {
  if (std::getenv("MALLOC_ARENA_MAX") != nullptr) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  mallopt(M_ARENA_MAX, std::max(1, CPU_COUNT(&allowed)));
}

}  // namespace chexbench
