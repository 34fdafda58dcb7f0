#include "spec/golden_file.hpp"

#include "spec/text_file.hpp"

namespace chexbench::spec {

std::string read_golden_file(const std::string& path, const std::string& example) {
  try {
    return read_text_file(path, "golden file");
  } catch (const SpecError& error) {
    throw DataError(fmt::format("{}; give a golden file, e.g. tests/golden/{}", error.what(), example));
  }
}

std::int64_t golden_integer(const nlohmann::json& json, const std::string& name, IntegerRange range) {
  // The type is checked before the cast: the library reads a number beyond 64 bits as floating-point.
  const bool is_whole = json.is_number_integer() && (!json.is_number_unsigned() || json <= INT64_MAX);
  const std::int64_t value = is_whole ? json.get<std::int64_t>() : 0;
  if (is_whole && value >= range.least && value <= range.most) return value;
  throw DataError(fmt::format("{} must be a whole number from {} to {}", name, range.least, range.most));
}

}  // namespace chexbench::spec
