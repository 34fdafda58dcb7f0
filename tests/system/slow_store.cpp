// A storage that takes SLOW_STORE_MS to open an image, only for the rank SLOW_STORE_RANK if that is set. To be loaded
// before libc (LD_PRELOAD).
#include <dlfcn.h>
#include <fcntl.h>

#include <cstdarg>
#include <cstdlib>
#include <ctime>
#include <string_view>

namespace {

bool is_meant(std::string_view path) {
  const char* const rank = std::getenv("SLOW_STORE_RANK");
  const char* const own_rank = std::getenv("PMI_RANK");
  if (!path.ends_with(".png")) return false;
  return rank == nullptr || (own_rank != nullptr && std::string_view(rank) == own_rank);
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  using Open = int (*)(const char*, int, ...);
  static const auto next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open"));
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (is_meant(path)) {
    const long ms = std::atol(std::getenv("SLOW_STORE_MS"));
    const timespec time{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
    nanosleep(&time, nullptr);
  }
  return next(path, flags, mode);
}
