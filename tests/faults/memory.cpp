// The allocator's functions, in front of glibc's own names for them. Operator new calls malloc() or aligned_alloc().
#include <cerrno>
#include <cstddef>

#include "fault.hpp"

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
}

namespace {

bool fails(const char* function) {
  if (!faults::is_chosen(faults::Class::malloc) || !faults::must_fail(function)) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return fails("malloc") ? nullptr : __libc_malloc(bytes); }

void* calloc(std::size_t count, std::size_t bytes) { return fails("calloc") ? nullptr : __libc_calloc(count, bytes); }

void* realloc(void* block, std::size_t bytes) { return fails("realloc") ? nullptr : __libc_realloc(block, bytes); }

void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails("memalign") ? nullptr : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails("aligned_alloc") ? nullptr : __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (fails("posix_memalign")) return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block != nullptr ? 0 : ENOMEM;
}

}  // extern "C"
