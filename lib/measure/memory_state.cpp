#include "measure/memory_state.hpp"

#include <fstream>
#include <map>
#include <sstream>

namespace chexbench::measure {
namespace {

// Parses lines such as "MemAvailable:    3245884 kB".
std::map<std::string, std::uint64_t> read_meminfo(const std::string& path) {
  std::map<std::string, std::uint64_t> bytes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    if (words >> name >> kibibytes) bytes[name] = kibibytes * 1024;
  }
  return bytes;
}

// Returns the word in brackets in a text such as "always [madvise] never".
std::string chosen(const std::string& words) {
  const std::size_t open = words.find('[');
  const std::size_t close = words.find(']', open);
  return open == std::string::npos || close == std::string::npos ? "" : words.substr(open + 1, close - open - 1);
}

}  // namespace

MemoryState probe_memory(const SystemRoots& roots) {
  std::map<std::string, std::uint64_t> bytes = read_meminfo(roots.proc + "/meminfo");
  return {
      .total_bytes = bytes["MemTotal:"],
      .available_bytes = bytes["MemAvailable:"],
      .page_cache_bytes = bytes["Cached:"],
      .transparent_huge_pages = chosen(read_line(roots.sys + "/kernel/mm/transparent_hugepage/enabled").value_or(""))};
}

}  // namespace chexbench::measure
