#include "formats/json_file.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/errors.hpp"
#include "core/format_version.hpp"
#include "core/json_text.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {

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
