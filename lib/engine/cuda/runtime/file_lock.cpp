#include "engine/cuda/runtime/file_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {

FileLock::FileLock(const std::string& path) : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) throw OutputError(fmt::format("{}: cannot write it: {}", path, std::strerror(errno)));
  while (flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() { close(descriptor_); }

}  // namespace chexbench::engine::cuda
