#include "formats/json_file.hpp"

#include <cmath>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {

nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path) {
  try {
    storage::ByteBuffer buffer;
    const std::string_view text = storage::as_text(root.store->read(path, buffer));
    if (is_nested_too_deep(text)) return nullptr;  // copying it would use up the stack
    return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  } catch (const DataError&) {
    return nullptr;
  }
}

std::string json_file_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

double rounded_to_ms(double seconds) { return std::round(seconds * 1e3) / 1e3; }

}  // namespace chexbench::formats
