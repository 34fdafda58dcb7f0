#include "measure/data_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 100000;
constexpr std::size_t kSampledFiles = 64;
constexpr double kCold = 0.05;
constexpr double kWarm = 0.95;

std::vector<std::string> files_under(const std::string& root) {
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(root, fs::directory_options::skip_permission_denied, error);
  for (std::size_t seen = 0; !error && entry != fs::recursive_directory_iterator{} && seen < kMostEntries; ++seen) {
    std::error_code odd;  // set if the entry was removed meanwhile
    if (entry->is_regular_file(odd) && !odd) files.push_back(entry->path().string());
    entry.increment(error);
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace

double DataPlace::cached_share() const {
  return sample.bytes == 0 ? 0 : static_cast<double>(sample.resident_bytes) / static_cast<double>(sample.bytes);
}

std::string DataPlace::cache_word() const {
  if (sample.bytes == 0) return "not known";
  if (cached_share() < kCold) return "cold";
  return cached_share() > kWarm ? "warm" : "partly cached";
}

DataPlace look_at_data(const std::string& root, const SystemRoots& roots) {
  std::error_code error;
  if (!fs::is_directory(root, error)) throw DataError(fmt::format("{}: no such folder", root));
  return {.root = root,
          .file_system = find_file_system(root, roots),
          .sample = look_at_page_cache(evenly(files_under(root), kSampledFiles))};
}

}  // namespace chexbench::measure
