// Where the kernel tells of the machine, and reading its small files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chexbench::measure {

// Folders laid out like /proc and /sys: tests put others in their place.
struct SystemRoots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// The first line of a file without blanks at its end; empty where it cannot be read.
std::optional<std::string> read_line(const std::string& path);

// A file that holds one whole number.
std::optional<long long> read_number(const std::string& path);

// The CPUs of a kernel's list, "0-3,8"; those that can be read of a damaged one.
std::vector<int> parse_cpu_list(const std::string& text);

// The list once more, as short as it goes: "0-3,8". Ascending numbers.
std::string cpu_list_text(const std::vector<int>& cpus);

}  // namespace chexbench::measure
