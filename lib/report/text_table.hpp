// A table of text whose columns are aligned for a terminal. All verbs print their tables with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.hpp"

namespace chexbench::report {

// The cells of a table. The first `left_columns` columns are aligned left, the others right, and the last one left if
// `last_left` is set. Every row must have the same number of cells as `header`. Widths are counted in bytes, so cells
// should be ASCII.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns = 0;
  bool last_left = false;
  std::vector<std::size_t> expendable = {};  // columns that a reader needs least, the least important first
};

// Returns the indices of the columns with text in any row. The others are not shown, nor are their headers.
std::vector<std::size_t> shown_columns(const TextTable& table);

// Returns whether a column is aligned left.
bool stands_left(const TextTable& table, std::size_t column);

// Returns a sentence that may contain names as one line with a newline, made safe for a terminal: see
// core/printable.hpp.
std::string shown_line(const std::string& sentence);

// Returns one line for the header and one per row, without empty columns and trailing spaces. Control characters in
// cells are shown as \xNN.
std::string render(const TextTable& table);

// Formats figures for the tables of all verbs: rounded, with their unit.

std::string gigabytes(std::uint64_t bytes);                             // "1.5 GB"
std::string percent(double share);                                      // "12.3 %" for 0.123
std::string times(double ratio);                                        // "1.97 x"
std::string interval_text(const std::optional<measure::Ratio>& ratio);  // "1.95 .. 2.02", or ""

}  // namespace chexbench::report
