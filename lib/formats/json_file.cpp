#include "formats/json_file.hpp"

#include <cmath>

#include "core/errors.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {

nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path) {
  try {
    storage::ByteBuffer buffer;
    return nlohmann::json::parse(storage::as_text(root.store->read(path, buffer)), nullptr, /*allow_exceptions=*/false);
  } catch (const DataError&) {
    return nullptr;
  }
}

std::string json_file_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

double rounded_to_ms(double seconds) { return std::round(seconds * 1e3) / 1e3; }

}  // namespace chexbench::formats
