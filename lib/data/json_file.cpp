#include "data/json_file.hpp"

#include <cmath>

#include "core/errors.hpp"
#include "data/file_bytes.hpp"

namespace chexbench::data {

nlohmann::json read_json_file(const DataRoot& root, const std::string& path) {
  try {
    ByteBuffer buffer;
    return nlohmann::json::parse(as_text(root.store->read(path, buffer)), nullptr, /*allow_exceptions=*/false);
  } catch (const DataError&) {
    return nullptr;
  }
}

std::string json_file_text(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

double rounded_to_ms(double seconds) { return std::round(seconds * 1e3) / 1e3; }

}  // namespace chexbench::data
