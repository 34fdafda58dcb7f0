// Reads the small files in which the kernel describes the machine and its processes. Thread-safe; allocates nothing.
#pragma once

#include <array>
#include <string_view>

namespace chexbench {

// A buffer for such a file. Files of /sys, and a process's status, io and schedstat, are not larger.
using KernelPage = std::array<char, 4096>;

// Returns the beginning of a file, as much as fits `page`, in one read(): the kernel generates the text for each read.
// The result points into `page`; it is empty if the file cannot be read.
std::string_view read_kernel_file(const char* path, KernelPage& page);

}  // namespace chexbench
