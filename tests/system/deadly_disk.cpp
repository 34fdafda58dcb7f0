// Preloaded into a process, it ends it by SIGKILL at a chosen moment between two changes to files: like kill -9, but at
// every moment that can make a difference on disk.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

// Counts moments, from 1; the one in DEADLY_MOMENT is the last.
void pass_moment() {
  static const char* const deadly = std::getenv("DEADLY_MOMENT");
  static std::atomic<long> moments = 0;
  if (++moments == (deadly != nullptr ? std::atol(deadly) : 0)) std::raise(SIGKILL);
}

// Pipes and terminals keep nothing.
bool is_kept(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

// In two halves, so that a line can be torn.
ssize_t write(int descriptor, const void* bytes, size_t count) {
  static auto* const real_write = real<ssize_t(int, const void*, size_t)>("write");
  if (!is_kept(descriptor)) return real_write(descriptor, bytes, count);
  pass_moment();
  const ssize_t first = real_write(descriptor, bytes, count / 2);
  pass_moment();
  if (first < 0) return first;
  const ssize_t second = real_write(descriptor, static_cast<const char*>(bytes) + first, count - first);
  return second < 0 ? second : first + second;
}

int fsync(int descriptor) {
  static auto* const real_fsync = real<int(int)>("fsync");
  if (is_kept(descriptor)) pass_moment();
  return real_fsync(descriptor);
}

int ftruncate(int descriptor, off_t length) noexcept {
  static auto* const real_ftruncate = real<int(int, off_t)>("ftruncate");
  pass_moment();
  return real_ftruncate(descriptor, length);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real_rename = real<int(const char*, const char*)>("rename");
  pass_moment();
  return real_rename(from, to);
}

}  // extern "C"
