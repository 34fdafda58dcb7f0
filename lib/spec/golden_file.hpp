// Helpers that the readers of golden files share. Private to this folder: it includes the JSON library.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/printable.hpp"

namespace chexbench::spec {

// Returns the text of the golden file at `path`. `example` names a file of the same kind in tests/golden, for the
// message.
// @throws DataError if it cannot be read
std::string read_golden_file(const std::string& path, const std::string& example);

// Reads the golden file at `path` and returns what `convert` makes of its JSON.
// @throws DataError if it cannot be read, is not JSON, or `convert` refuses it; the message names the file
template <typename Convert>
auto load_golden(const std::string& path, const std::string& example, Convert convert) {
  const std::string text = read_golden_file(path, example);
  const auto refusal = [&](const std::exception& error) {
    return DataError(fmt::format("{}: not a golden file such as {}: {}", path, example, printable(error.what(), 400)));
  };
  try {
    return convert(nlohmann::json::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw refusal(error);
  } catch (const DataError& error) {
    throw refusal(error);
  }
}

// The values that are accepted for an integer, both ends included.
struct IntegerRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Returns the whole number in `json`, which errors call `name`. The range keeps absurd sizes, and indices outside of an
// array, from reaching the caller.
// @throws DataError if it is not a whole number within `range`
std::int64_t golden_integer(const nlohmann::json& json, const std::string& name, IntegerRange range);

// Does the same for each element of a list. @throws DataError as golden_integer() does
template <typename T>
std::vector<T> golden_integers(const nlohmann::json& list, const std::string& name, IntegerRange range) {
  std::vector<T> values;
  for (const nlohmann::json& one : list) values.push_back(static_cast<T>(golden_integer(one, name, range)));
  return values;
}

}  // namespace chexbench::spec
