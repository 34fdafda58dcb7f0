#include "data/shards.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::data {
namespace {

namespace fs = std::filesystem;

std::string shard_name(spec::Split split, int index, int count) {
  return fmt::format("{}-{:05}-of-{:05}", spec::to_string(split), index, count);
}

// The number after the last '-' of a shard's name, where `name` is one of this split.
std::optional<int> shard_count(spec::Split split, std::string_view name) {
  const std::string prefix = spec::to_string(split) + "-";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto read_number = [](std::string_view text) {
    int value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : -1;
  };
  const std::string_view rest = name.substr(prefix.size());
  const std::size_t of = rest.find("-of-");
  if (of == std::string_view::npos) return std::nullopt;
  const int index = read_number(rest.substr(0, of));
  const int count = read_number(rest.substr(of + 4));
  if (index < 0 || index >= count || shard_name(split, index, count) != name) return std::nullopt;
  return count;
}

std::string convert_command(const std::string& root, spec::Split split) {
  return fmt::format("make them with: chexbench data convert {} --split {}", root, spec::to_string(split));
}

// What the root's folder of shards holds of a split.
struct Shards {
  std::set<std::string> names;
  std::optional<int> count;  // that the names speak of
};

// @throws DataError where the names speak of several counts
Shards look(const DataRoot& root, spec::Split split) {
  Shards shards;
  std::set<int> counts;
  for (StoreEntry& entry : root.store->list(tfrecord_folder(root.path))) {
    const std::optional<int> count = shard_count(split, entry.name);
    if (!count) continue;
    counts.insert(*count);
    shards.names.insert(std::move(entry.name));
  }
  if (counts.size() > 1) {
    throw DataError(
        fmt::format("{} mixes shards of split '{}' from conversions into {} and {} shards: remove those of one",
                    tfrecord_folder(root.path), spec::to_string(split), *counts.begin(), *counts.rbegin()));
  }
  if (!counts.empty()) shards.count = *counts.begin();
  return shards;
}

}  // namespace

std::string tfrecord_folder(const std::string& root) { return fs::path(root) / "tfrecord"; }

std::string shard_path(const std::string& root, spec::Split split, int index, int count) {
  return fs::path(tfrecord_folder(root)) / shard_name(split, index, count);
}

std::optional<int> present_shard_count(const DataRoot& root, spec::Split split) { return look(root, split).count; }

std::vector<std::string> find_shards(const DataRoot& root, spec::Split split) {
  const Shards present = look(root, split);
  if (!present.count) {
    throw DataError(fmt::format("no TFRecord shards of split '{}' in {}: {}", spec::to_string(split),
                                tfrecord_folder(root.path), convert_command(root.path, split)));
  }
  std::vector<std::string> paths;
  for (int i = 0; i < *present.count; ++i) {
    if (!present.names.contains(shard_name(split, i, *present.count))) {
      throw DataError(fmt::format("shard {} is missing in {}: {}", shard_name(split, i, *present.count),
                                  tfrecord_folder(root.path), convert_command(root.path, split)));
    }
    paths.push_back(shard_path(root.path, split, i, *present.count));
  }
  return paths;
}

}  // namespace chexbench::data
