// Converts repeats to JSON and back: the common part of report.json and the journal. Only sources that read or write
// these files include this header, because it includes the JSON library.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "core/printable.hpp"
#include "results/record.hpp"

namespace chexbench::results {

using Json = nlohmann::ordered_json;  // keeps the keys in the order of the fields, for people who read the file

// Returns a repeat as an object, with steps and samples as tables and with the summaries of step times and GPUs.
Json repeat_to_json(const RepeatResult& repeat);

// Reads what repeat_to_json() wrote; the summaries are ignored. Keys that are missing keep their defaults.
// @throws DataError if a number is out of range
// @throws Json::exception if the object has another form
RepeatResult repeat_from_json(const Json& object);

// Returns the JSON on one line. Bytes that are not UTF-8 are replaced.
std::string dump(const Json& value);

// Returns the output of dump(), spread over lines for people, one step per line: each member of an object and each item
// of a list gets its own line, indented by two spaces, but a list of plain values stays on one.
std::string spread(std::string_view json);

// @throws DataError if the object's schema_version is not kSchemaVersion
void check_version(const Json& object);

// Parses `text` and returns take(parsed). Errors begin with `name`.
// @throws DataError if the text is not JSON, is nested more than kMaxJsonDepth deep, or if take() throws a
// Json::exception or an Error
template <class Take>
auto read_json(std::string_view text, const std::string& name, Take take) {
  constexpr std::size_t kMostWords = 400;  // bytes of the JSON library's message, which quotes the text
  try {
    if (is_nested_too_deep(text)) throw DataError(fmt::format("nested more than {} deep", kMaxJsonDepth));
    return take(Json::parse(text));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{}: not a result of chexbench: {}", name, printable(error.what(), kMostWords)));
  } catch (const Error& error) {
    throw DataError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace chexbench::results
