// Reads the small files in which the kernel describes the machine and its processes. Thread-safe; allocates nothing.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace chexbench {

// A buffer for such a file. Files of /sys, and a process's status, io and schedstat, are not larger.
using KernelPage = std::array<char, 4096>;

// Returns the beginning of a file, as much as fits `page`, in one read(): the kernel generates the text for each read.
// The result points into `page`; it is empty if the file cannot be read.
inline std::string_view read_kernel_file(const char* path, KernelPage& page) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t bytes = ::read(file, page.data(), page.size());
  ::close(file);
  return {page.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

}  // namespace chexbench
