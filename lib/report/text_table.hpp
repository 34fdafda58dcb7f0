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
// `last_left` is set. Every row must have as many cells as `header`. Widths are counted in bytes, so cells should be
// ASCII.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns = 0;
  bool last_left = false;
  std::vector<std::size_t> expendable = {};  // columns that a reader needs least, the first of them least of all
};

// Returns the indices of the columns that have text in some row. The others are not shown, nor is their header.
std::vector<std::size_t> shown_columns(const TextTable& table);

// Returns whether a column is aligned left.
bool stands_left(const TextTable& table, std::size_t column);

// Returns a sentence with names in it as one line, with its line end, that a terminal can show: see core/printable.hpp.
std::string shown_line(const std::string& sentence);

// Returns one line for the header and one per row, without columns that are empty in every row, and without blanks at
// the ends of lines. Control characters in cells are shown as \xNN.
std::string render(const TextTable& table);

// Formats figures as the tables of all verbs show them: rounded, with their unit.

std::string gigabytes(std::uint64_t bytes);                             // "1.5 GB"
std::string percent(double share);                                      // "12.3 %" for 0.123
std::string times(double ratio);                                        // "1.97 x"
std::string interval_text(const std::optional<measure::Ratio>& ratio);  // "1.95 .. 2.02", or ""

}  // namespace chexbench::report
