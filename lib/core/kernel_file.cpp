#include "core/kernel_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace chexbench {

std::string_view read_kernel_file(const char* path, KernelPage& page) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = ::read(file, page.data(), page.size());
  ::close(file);
  return {page.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

}  // namespace chexbench
