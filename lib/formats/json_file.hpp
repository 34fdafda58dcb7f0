// The small JSON files that chexbench writes beside a data set: manifests and records of staging.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "storage/data_root.hpp"

namespace chexbench::formats {

// The file's object, or null (JSON's) if the file is missing, unreadable or damaged: what it would say is then not
// known. Thread-safe.
nlohmann::json read_json_file(const storage::DataRoot& root, const std::string& path);

// The text of such a file, with bytes that are not UTF-8 replaced by U+FFFD.
std::string json_file_text(const nlohmann::ordered_json& object);

// Seconds with the three decimals that people read.
double rounded_to_ms(double seconds);

// The member `key` of an object as a T, or std::nullopt if it has none, or one of another type.
template <typename T>
std::optional<T> value_of(const nlohmann::json& object, const char* key) {
  try {
    return object.at(key).get<T>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace chexbench::formats
