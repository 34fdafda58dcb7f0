#include "dataset/conversions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/image_files.hpp"
#include "dataset/passed_over.hpp"
#include "formats/manifest.hpp"
#include "formats/shards.hpp"

namespace chexbench::dataset {
namespace {

using storage::StoreEntry;

constexpr std::array kFormats{spec::DataFormat::tfrecord, spec::DataFormat::webdataset};
constexpr std::string_view kManifest = "-manifest.json";

bool looks_like_shard(const StoreEntry& entry) {
  return entry.kind == StoreEntry::Kind::file && passed_kind(entry) == PassedKind::shards;
}

// Returns the name of a shard among the entries, or "" if there is none.
std::string shard_among(const std::vector<StoreEntry>& entries) {
  const auto found = std::ranges::find_if(entries, looks_like_shard);
  return found == entries.end() ? "" : found->name;
}

}  // namespace

void refuse_folder_of_format(const storage::DataRoot& root, const std::vector<StoreEntry>& entries) {
  namespace fs = std::filesystem;
  std::string path = root.store->is_local() ? fs::absolute(root.path).lexically_normal().string() : root.path;
  while (path.ends_with('/')) path.pop_back();
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return;
  const std::string name = path.substr(slash + 1);
  const auto is_name = [&](spec::DataFormat format) { return name == spec::to_string(format); };
  const auto is_manifest = [](const StoreEntry& entry) { return entry.name.ends_with(kManifest); };
  if (std::ranges::none_of(kFormats, is_name) || std::ranges::none_of(entries, is_manifest)) return;
  throw DataError(fmt::format(
      "'{}' holds the shards of a data set, which is the folder above: set data.root to {}, with data.format {}",
      root.path, path.substr(0, slash), name));
}

std::string shards_hint(const storage::DataRoot& root) {
  constexpr std::size_t kMostFolders = 16;
  const std::vector<StoreEntry> entries = root.store->list(root.path);
  std::string shard = shard_among(entries), with_table;
  std::size_t listed = 0;
  for (const StoreEntry& entry : entries) {
    if (entry.kind != StoreEntry::Kind::folder || !shard.empty() || listed++ == kMostFolders) continue;
    const std::string found = shard_among(root.store->list(root.path + "/" + entry.name));
    const auto is_format = [&](spec::DataFormat format) { return entry.name == spec::to_string(format); };
    if (found.empty()) continue;
    (std::ranges::any_of(kFormats, is_format) ? with_table : shard) = entry.name + "/" + found;
  }
  if (!shard.empty()) {
    return fmt::format(
        "; {} looks like a shard: chexbench reads those of `chexbench data convert`, in the data set that they were "
        "made "
        "from, with its table or folders, and those of ImageNet, with image/encoded, image/filename and "
        "image/class/label",
        printable(shard));
  }
  if (with_table.empty()) return "";
  return fmt::format("; {}/{} holds shards, but {} lacks the table that they were made from: copy it there, too",
                     root.path, with_table.substr(0, with_table.find('/')), root.path);
}

std::optional<ConversionCost> conversion_cost(const storage::DataRoot& root, spec::Split split,
                                              spec::DataFormat format) {
  const std::optional<formats::Manifest> manifest = formats::read_manifest(root, split, format);
  if (!manifest || !manifest->images || !manifest->shard_bytes) return {};
  if (manifest->seconds.value_or(0) <= 0 || manifest->shards_kept.value_or(1) != 0) return {};
  return ConversionCost{
      .images = *manifest->images, .seconds = *manifest->seconds, .shard_bytes = *manifest->shard_bytes};
}

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
