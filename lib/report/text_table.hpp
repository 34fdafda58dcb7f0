// Columns of text, aligned for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace chexbench::report {

// The first `left_columns` columns stand left, the others right, and the last one left again if `last_left`. All rows
// must have as many cells as `header`. Columns that are empty in every row are left out, their header with them.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::size_t left_columns = 0;
  bool last_left = false;
};

// The columns that are not empty in every row.
std::vector<std::size_t> shown_columns(const TextTable& table);

bool stands_left(const TextTable& table, std::size_t column);

// One line for the header, one for each row; no blanks at line ends.
std::string render(const TextTable& table);

}  // namespace chexbench::report
