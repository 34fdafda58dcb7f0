#include "formats/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "formats/shards.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

// Returns the names as JSON stores them: bytes that are not UTF-8, which JSON cannot store, become U+FFFD.
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

namespace {

nlohmann::json parsed_file(const storage::DataRoot& root, const std::string& path) {
  try {
    storage::ByteBuffer buffer;
    const std::string_view text = storage::as_text(root.store->read(path, buffer));
    if (is_nested_too_deep(text)) return nullptr;  // copying it would use up the stack
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  } catch (const DataError&) {
    return nullptr;
  }
}

}  // namespace

nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path) {
  nlohmann::json json = parsed_file(root, path);
  const auto version = value_of<std::uint64_t>(json, kFormatVersionKey);
  const std::string refusal =
      refusal_of_version(version && *version < 1'000'000 ? static_cast<std::int64_t>(*version) : 1);
  if (!refusal.empty()) throw DataError(fmt::format("{}: {}", path, refusal));
  return json;
}

std::string json_file_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

double rounded_to_ms(double seconds) { return std::round(seconds * 1e3) / 1e3; }

}  // namespace chexbench::formats
