// Reads the small files in which the kernel describes the machine. All functions are thread-safe, and none throws
// because of a missing or damaged file.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace chexbench::measure {

// Folders with the layout of /proc, /sys and /dev. Tests pass other folders.
struct SystemRoots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string dev = "/dev";
};

// Returns the first line of a file without trailing blanks; std::nullopt if it cannot be read.
std::optional<std::string> read_line(const std::string& path);

// Returns the number in a file that holds a single integer; std::nullopt if it cannot be read or contains anything
// else.
std::optional<long long> read_number(const std::string& path);

// Returns the sorted names in a folder; none if it cannot be read.
std::vector<std::string> names_in(const std::string& folder);

// Parses a CPU list in the kernel's format, such as "0-3,8". Skips the entries of a damaged list that cannot be
// parsed.
std::vector<int> parse_cpu_list(const std::string& text);

// Formats ascending CPU numbers as the shortest list in that format: "0-3,8".
std::string cpu_list_text(const std::vector<int>& cpus);

}  // namespace chexbench::measure
