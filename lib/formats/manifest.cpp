#include "formats/manifest.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/format_version.hpp"
#include "formats/json_file.hpp"
#include "formats/shards.hpp"

namespace chexbench::formats {
namespace {

// Returns the names as JSON would hold them: bytes that are not UTF-8, which JSON cannot hold, become U+FFFD.
std::string as_json(std::span<const std::string> names) {
  return nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::size_t Conversion::kept() const {
  return static_cast<std::size_t>(
      std::count_if(shards.begin(), shards.end(), [](const ShardFile& s) { return s.kept; }));
}

std::string manifest_path(const std::string& root, spec::Split split, spec::DataFormat format) {
  return std::filesystem::path(format_folder(root, format)) / (spec::to_string(split) + "-manifest.json");
}

std::string manifest_json(const Conversion& conversion) {
  nlohmann::ordered_json manifest = {
      {kFormatVersionKey, kFormatVersion},
      {"format", spec::to_string(conversion.format)},
      {"split", spec::to_string(conversion.split)},
      {"images", conversion.images},
      {"patients", conversion.patients ? nlohmann::ordered_json(*conversion.patients) : nullptr},
      {"image_bytes", conversion.image_bytes},
      {"shard_bytes", conversion.shard_bytes},
      {"seconds", rounded_to_ms(conversion.seconds)},
      {"shards_kept", conversion.kept()},
      {"labels", conversion.label_names},
      {"damaged", conversion.damaged},
      {"shards", nlohmann::ordered_json::array()}};
  for (const ShardFile& shard : conversion.shards) {
    manifest["shards"].push_back({{"name", shard.name}, {"records", shard.records}, {"bytes", shard.bytes}});
  }
  return json_file_text(manifest);
}

bool Manifest::has_labels(std::span<const std::string> names) const {
  return !label_names || as_json(*label_names) == as_json(names);
}

std::optional<Manifest> read_manifest(const storage::DataRoot& root, spec::Split split, spec::DataFormat format) {
  const nlohmann::json json = read_json_file(root, manifest_path(root.path, split, format));
  if (!json.is_object()) return std::nullopt;
  Manifest manifest{.images = value_of<std::uint64_t>(json, "images"),
                    .shard_bytes = value_of<std::uint64_t>(json, "shard_bytes"),
                    .shards_kept = value_of<std::uint64_t>(json, "shards_kept"),
                    .seconds = value_of<double>(json, "seconds"),
                    .label_names = value_of<std::vector<std::string>>(json, "labels")};
  for (const nlohmann::json& shard : json.value("shards", nlohmann::json::array())) {
    manifest.shards.push_back(value_of<std::string>(shard, "name").value_or(""));
  }
  return manifest;
}

}  // namespace chexbench::formats
