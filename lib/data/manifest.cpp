#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/json_text.hpp"
#include "data/convert.hpp"
#include "data/shards.hpp"

namespace chexbench::data {
namespace {

std::string json_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + json_text(text);
  return list + "]";
}

}  // namespace

std::size_t Conversion::kept() const {
  return static_cast<std::size_t>(
      std::count_if(shards.begin(), shards.end(), [](const ShardFile& s) { return s.kept; }));
}

std::string manifest_path(const std::string& root, spec::Split split, spec::DataFormat format) {
  return std::filesystem::path(format_folder(root, format)) / (spec::to_string(split) + "-manifest.json");
}

std::string manifest_labels(const std::vector<std::string>& label_names) {
  return "\"labels\": " + json_list(label_names);
}

std::string manifest_json(const Conversion& conversion) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{{\n  \"format\": \"{}\",\n  \"split\": \"{}\",\n", spec::to_string(conversion.format),
                 spec::to_string(conversion.split));
  fmt::format_to(out, "  \"images\": {},\n  \"patients\": {},\n", conversion.images, conversion.patients);
  fmt::format_to(out, "  \"image_bytes\": {},\n  \"shard_bytes\": {},\n", conversion.image_bytes,
                 conversion.shard_bytes);
  fmt::format_to(out, "  \"seconds\": {:.3f},\n  \"shards_kept\": {},\n", conversion.seconds, conversion.kept());
  fmt::format_to(out, "  {},\n", manifest_labels(conversion.label_names));
  fmt::format_to(out, "  \"damaged\": {},\n  \"shards\": [", json_list(conversion.damaged));
  for (std::size_t i = 0; i < conversion.shards.size(); ++i) {
    const ShardFile& shard = conversion.shards[i];
    fmt::format_to(out, "{}\n    {{\"name\": {}, \"records\": {}, \"bytes\": {}}}", i == 0 ? "" : ",",
                   json_text(shard.name), shard.records, shard.bytes);
  }
  text += "\n  ]\n}\n";
  return text;
}

}  // namespace chexbench::data
