#include "formats/shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/text.hpp"
#include "formats/manifest.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

namespace fs = std::filesystem;
using spec::DataFormat;

constexpr std::string_view kTar = ".tar";

std::string shard_name(spec::Split split, int index, int count, DataFormat format) {
  if (format == DataFormat::webdataset) return fmt::format("{}-{:06}{}", spec::to_string(split), index, kTar);
  return fmt::format("{}-{:05}-of-{:05}", spec::to_string(split), index, count);
}

int shard_number(std::string_view text) { return parse_number<int>(text).value_or(-1); }

// Returns the count of shards in `name`, or std::nullopt if that is not the name of a TFRecord shard of this split.
std::optional<int> count_in_name(spec::Split split, std::string_view name) {
  const std::string prefix = spec::to_string(split) + "-";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view rest = name.substr(prefix.size());
  const std::size_t of = rest.find("-of-");
  if (of == std::string_view::npos) return std::nullopt;
  const int index = shard_number(rest.substr(0, of));
  const int count = shard_number(rest.substr(of + 4));
  if (index < 0 || index >= count || shard_name(split, index, count, DataFormat::tfrecord) != name) return std::nullopt;
  return count;
}

// Returns the number in `name`, or std::nullopt if that is not the name of a tar file of this split.
std::optional<int> index_in_name(spec::Split split, std::string_view name) {
  const std::string prefix = spec::to_string(split) + "-";
  if (!name.starts_with(prefix) || !name.ends_with(kTar)) return std::nullopt;
  const int index = shard_number(name.substr(prefix.size(), name.size() - prefix.size() - kTar.size()));
  if (index < 0 || shard_name(split, index, 0, DataFormat::webdataset) != name) return std::nullopt;
  return index;
}

// A split's shards in the folder of a root.
struct Shards {
  std::set<std::string> names;
  std::optional<int> count;  // how many shards there are, or will be when an unfinished conversion ends
  bool unfinished = false;
};

std::string read_text(const storage::DataRoot& root, const std::string& path) {
  storage::ByteBuffer buffer;
  return std::string(storage::as_text(root.store->read(path, buffer)));
}

Shards look_at_tar_files(const storage::DataRoot& root, spec::Split split) {
  const std::string unfinished = unfinished_path(root.path, split, DataFormat::webdataset);
  Shards shards;
  std::optional<int> highest;
  for (storage::StoreEntry& entry : root.store->list(format_folder(root.path, DataFormat::webdataset))) {
    shards.unfinished = shards.unfinished || entry.name == fs::path(unfinished).filename();
    const std::optional<int> index = index_in_name(split, entry.name);
    if (!index) continue;
    highest = std::max(highest.value_or(0), *index);
    shards.names.insert(std::move(entry.name));
  }
  if (shards.unfinished) {
    shards.count = shard_number(read_text(root, unfinished));
  } else if (const std::optional<Manifest> manifest = read_manifest(root, split, DataFormat::webdataset)) {
    shards.count = static_cast<int>(manifest->shards.size());
  } else if (highest) {
    shards.count = *highest + 1;
  }
  return shards;
}

// @throws DataError if the names contain different counts
Shards look_at_tfrecords(const storage::DataRoot& root, spec::Split split) {
  const std::string folder = format_folder(root.path, DataFormat::tfrecord);
  Shards shards;
  std::set<int> counts;
  for (storage::StoreEntry& entry : root.store->list(folder)) {
    const std::optional<int> count = count_in_name(split, entry.name);
    if (!count) continue;
    counts.insert(*count);
    shards.names.insert(std::move(entry.name));
  }
  if (counts.size() > 1) {
    throw DataError(fmt::format(
        "{} mixes shards of split '{}' from conversions into {} and {} shards: remove those of one conversion", folder,
        spec::to_string(split), *counts.begin(), *counts.rbegin()));
  }
  if (!counts.empty()) shards.count = *counts.begin();
  return shards;
}

Shards look(const storage::DataRoot& root, spec::Split split, DataFormat format) {
  return format == DataFormat::webdataset ? look_at_tar_files(root, split) : look_at_tfrecords(root, split);
}

}  // namespace

std::string format_folder(const std::string& root, spec::DataFormat format) {
  return fs::path(root) / spec::to_string(format);
}

std::string shard_path(const std::string& root, spec::Split split, int index, int count, spec::DataFormat format) {
  return fs::path(format_folder(root, format)) / shard_name(split, index, count, format);
}

std::optional<ShardName> shard_name_in(std::string_view name) {
  const std::size_t of = name.rfind("-of-");
  if (of == std::string_view::npos || of == 0) return std::nullopt;
  const std::size_t dash = name.rfind('-', of - 1);
  if (dash == std::string_view::npos) return std::nullopt;
  const ShardName parts{.prefix = std::string(name.substr(0, dash)),
                        .index = shard_number(name.substr(dash + 1, of - dash - 1)),
                        .count = shard_number(name.substr(of + 4))};
  const bool is_shard = parts.index >= 0 && parts.index < parts.count &&
                        fmt::format("{}-{:05}-of-{:05}", parts.prefix, parts.index, parts.count) == name;
  return is_shard ? std::optional(parts) : std::nullopt;
}

std::string unfinished_path(const std::string& root, spec::Split split, spec::DataFormat format) {
  return fs::path(format_folder(root, format)) / (spec::to_string(split) + "-unfinished");
}

std::string convert_command(const std::string& root, spec::Split split, spec::DataFormat format) {
  return fmt::format("make them with: chexbench data convert {} --split {}{}", shell_word(root), spec::to_string(split),
                     format == spec::DataFormat::tfrecord ? "" : " --to " + spec::to_string(format));
}

std::optional<int> present_shard_count(const storage::DataRoot& root, spec::Split split, spec::DataFormat format) {
  return look(root, split, format).count;
}

std::vector<std::string> find_shards(const storage::DataRoot& root, spec::Split split, spec::DataFormat format) {
  const Shards present = look(root, split, format);
  const std::string folder = format_folder(root.path, format);
  const std::string command = convert_command(root.path, split, format);
  if (!present.count) {
    throw DataError(fmt::format("no {} shards of split '{}' in {}: {}",
                                format == spec::DataFormat::tfrecord ? "TFRecord" : "WebDataset",
                                spec::to_string(split), folder, command));
  }
  if (present.unfinished) {
    throw DataError(fmt::format("the conversion into {} is not complete for split '{}': {}", folder,
                                spec::to_string(split), command));
  }
  std::vector<std::string> paths;
  for (int i = 0; i < *present.count; ++i) {
    const std::string name = shard_name(split, i, *present.count, format);
    if (!present.names.contains(name))
      throw DataError(fmt::format("shard {} is missing in {}: {}", name, folder, command));
    paths.push_back(fs::path(folder) / name);
  }
  return paths;
}

}  // namespace chexbench::formats
