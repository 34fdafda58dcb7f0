#include "measure/memory_state.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

SharedMemory probe_shared_memory(const SystemRoots& roots) {
  const std::string folder = roots.dev + "/shm";
  struct statvfs state {};
  if (::statvfs(folder.c_str(), &state) != 0) return {};
  const std::uint64_t block_bytes = state.f_frsize;
  SharedMemory memory{.exists = true,
                      .total_bytes = state.f_blocks * block_bytes,
                      .free_bytes = state.f_bavail * block_bytes,
                      .problem = {}};
  if (::access(folder.c_str(), W_OK | X_OK) != 0) memory.problem = std::strerror(errno);
  return memory;
}

std::uint64_t shared_bytes_of(std::uint64_t ranks) {
  // MPICH 4.0.2 over UCX 1.13 at 2 to 8 ranks, averaging 4 bytes to 100 MB.
  constexpr std::uint64_t kRankBytes = 4'320'000, kHostBytes = 70'000;
  return kHostBytes + ranks * kRankBytes;
}

}  // namespace chexbench::measure
