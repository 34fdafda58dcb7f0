// What the readers of golden files share. Private to this room.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/errors.hpp"

namespace chexbench::spec {

// The text of the golden file at `path`; `example` is one of its kind. @throws DataError where it cannot be read
std::string read_golden_file(const std::string& path, const std::string& example);

// What `convert` makes of the golden file at `path`. @throws DataError that names the file
template <typename Convert>
auto load_golden(const std::string& path, const std::string& example, Convert convert) {
  const std::string text = read_golden_file(path, example);
  const auto refusal = [&](const std::exception& error) {
    return DataError(fmt::format("{}: not a golden file such as {}: {}", path, example, error.what()));
  };
  try {
    return convert(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw refusal(error);
  } catch (const DataError& error) {
    throw refusal(error);
  }
}

// What a golden integer may be.
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// The whole number in `json`; `name` is what errors call it. Beyond its range it would become an absurd size, or an
// index outside of what it counts. @throws DataError
std::int64_t golden_integer(const nlohmann::json& json, const std::string& name, IntegerRange range);

// The same for each of a list.
template <typename T>
std::vector<T> golden_integers(const nlohmann::json& list, const std::string& name, IntegerRange range) {
  std::vector<T> values;
  for (const nlohmann::json& one : list) values.push_back(static_cast<T>(golden_integer(one, name, range)));
  return values;
}

}  // namespace chexbench::spec
