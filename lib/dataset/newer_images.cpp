#include "dataset/newer_images.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "dataset/image_files.hpp"
#include "formats/manifest.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLookedAt = 64;

}  // namespace

std::optional<NewerImages> newer_images(const storage::DataRoot& root, spec::Split split, spec::DataFormat format) {
  if (!root.store->is_local()) return {};
  std::error_code missing;
  const fs::file_time_type converted = fs::last_write_time(formats::manifest_path(root.path, split, format), missing);
  if (missing) return {};
  NameArena names;
  const std::vector<ImageFile> files = list_images(*root.store, root.path, names);
  const std::size_t looked_at = std::min(files.size(), kMostLookedAt);
  if (looked_at == 0) return {};
  NewerImages found{.looked_at = looked_at};
  for (std::size_t i = 0; i < looked_at; ++i) {
    std::error_code gone;
    const fs::file_time_type written = fs::last_write_time(files[i * files.size() / looked_at].path, gone);
    if (!gone && written > converted) ++found.newer;
  }
  return found;
}

}  // namespace chexbench::dataset
