// Reads and writes the small JSON files that chexbench puts beside a data set: manifests and records of staging.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

#include "storage/data_root.hpp"

namespace chexbench::formats {

// Returns the contents of the file, or the JSON value null if the file is missing, damaged or nested too deep; callers
// then treat what it would say as unknown. Thread-safe.
// @throws DataError if a newer chexbench wrote it (core/format_version.hpp)
nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path);

// Returns the text of such a file, indented and with a newline at the end. Bytes that are not UTF-8 become U+FFFD,
// because JSON cannot hold them.
std::string json_file_text(const nlohmann::ordered_json& object);

// Returns the seconds rounded to three decimals, which is as much as people read.
double rounded_to_ms(double seconds);

// Returns the member `key` of an object as a T, or std::nullopt if there is no such member or it has another type. An
// unsigned T takes whole numbers from 0 to 2^64 - 1 alone, because the library would cast all others.
template <typename T>
std::optional<T> value_of(const nlohmann::json& object, const char* key) {
  try {
    const nlohmann::json& member = object.at(key);
    if (std::is_unsigned_v<T> && !std::is_same_v<T, bool> && !member.is_number_unsigned()) return std::nullopt;
    return member.get<T>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace chexbench::formats
