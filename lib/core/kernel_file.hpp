// Reads the small files in which the kernel describes the machine and its processes. Thread-safe; allocates nothing.
#pragma once

#include <array>
#include <string_view>

namespace chexbench {

// What such a file is read into: those of /sys are no longer, nor are status, io and schedstat of a process.
using KernelPage = std::array<char, 4096>;

// Returns the beginning of a file, as much as fits `page`, in one read(): the kernel writes its text anew for each.
// The text is in `page`; it is empty if the file cannot be read.
std::string_view read_kernel_file(const char* path, KernelPage& page);

}  // namespace chexbench
