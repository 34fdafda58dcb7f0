#include "measure/page_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::measure {
namespace {

// An open file and its size.
class File {
 public:
  explicit File(const std::string& path) : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("open");
    fstat(descriptor_, &status_);
  }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int descriptor() const { return descriptor_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(status_.st_size); }
  // Returns whether mincore reports the truth. For other users' files it reports every page as resident.
  bool residency_known() const { return status_.st_uid == geteuid() || access(path_.c_str(), W_OK) == 0; }
  bool in_memory_only() const {
    struct statfs system {};
    return fstatfs(descriptor_, &system) == 0 && system.f_type == TMPFS_MAGIC;
  }
  [[noreturn]] void fail(const char* what) const {
    throw DataError(fmt::format("{}: cannot {} it: {}", path_, what, std::strerror(errno)));
  }

 private:
  const std::string path_;
  const int descriptor_;
  struct stat status_ {};
};

std::uint64_t resident_bytes(const File& file) {
  constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 30;
  const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident;
  std::uint64_t sum_bytes = 0;
  for (std::uint64_t begin = 0; begin < file.bytes(); begin += kWindowBytes) {
    const std::uint64_t window_bytes = std::min(kWindowBytes, file.bytes() - begin);
    void* memory = mmap(nullptr, window_bytes, PROT_READ, MAP_SHARED, file.descriptor(), static_cast<off_t>(begin));
    if (memory == MAP_FAILED) file.fail("map");
    resident.assign((window_bytes + page_bytes - 1) / page_bytes, 0);
    mincore(memory, window_bytes, resident.data());
    munmap(memory, window_bytes);
    const auto pages = std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return page & 1; });
    sum_bytes += std::min(window_bytes, static_cast<std::uint64_t>(pages) * page_bytes);
  }
  return sum_bytes;
}

void read_through(const File& file, std::vector<char>& buffer) {
  ssize_t bytes = 0;
  while ((bytes = read(file.descriptor(), buffer.data(), buffer.size())) > 0) {
  }
  if (bytes < 0) file.fail("read");
}

void drop(const File& file) {
  fdatasync(file.descriptor());  // dirty pages would stay; if the file system refuses, mincore shows it
  posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

// Returns why the file is not known to be in the requested state; empty if it is.
std::string doubt(spec::PageCache goal, const File& file, std::uint64_t resident) {
  if (!file.residency_known()) return "owned by another user, so the kernel does not report what is cached";
  if (goal == spec::PageCache::warm) {
    return resident == file.bytes() ? ""
                                    : fmt::format("{} of {} bytes stayed in the page cache", resident, file.bytes());
  }
  if (resident == 0) return "";
  return file.in_memory_only() ? "on a file system in memory"
                               : fmt::format("{} bytes stayed in the page cache", resident);
}

constexpr std::string_view kNotVerified = " (not verified)";

}  // namespace

bool is_doubtful(const std::string& word) { return word.ends_with(kNotVerified); }

PageCacheState prepare_page_cache(spec::PageCache goal, std::span<const std::string> paths) {
  if (goal == spec::PageCache::as_is) return {.word = "as_is", .reason = "", .files = paths.size()};
  PageCacheState state{.word = goal == spec::PageCache::warm ? "warm" : "cold", .reason = "", .files = paths.size()};
  std::vector<char> buffer(std::size_t{1} << 20);
  for (const std::string& path : paths) {
    const File file(path);
    goal == spec::PageCache::warm ? read_through(file, buffer) : drop(file);
  }
  // The check comes after all files are prepared: a data set larger than memory evicts its own first files.
  for (const std::string& path : paths) {
    const File file(path);
    const std::uint64_t resident = resident_bytes(file);
    state.bytes += file.bytes();
    state.resident_bytes += resident;
    const std::string why = state.reason.empty() ? doubt(goal, file, resident) : "";
    if (!why.empty()) state.reason = fmt::format("{}: {}", path, why);
  }
  if (!state.reason.empty()) state.word += kNotVerified;
  return state;
}

std::vector<std::string> evenly(std::span<const std::string> paths, std::size_t most) {
  const std::size_t count = std::min(most, paths.size());
  std::vector<std::string> sample;
  for (std::size_t i = 0; i < count; ++i) sample.push_back(paths[i * paths.size() / count]);
  return sample;
}

CachedShare look_at_page_cache(std::span<const std::string> paths) {
  CachedShare share;
  for (const std::string& path : paths) {
    try {
      const File file(path);
      if (!file.residency_known()) {
        ++share.unknown_files;
        continue;
      }
      share.resident_bytes += resident_bytes(file);
      share.bytes += file.bytes();
      ++share.files;
    } catch (const DataError&) {
      continue;  // a file that is missing or forbidden does not affect the others
    }
  }
  return share;
}

}  // namespace chexbench::measure
