// A table of text whose columns are aligned for a terminal. All verbs print their tables with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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
std::string decimal(double value);                                      // "0.153", "3.46", "12.3", or "1,051"
std::string interval_text(const std::optional<measure::Ratio>& ratio);  // "1.95 to 2.02", or ""

// Fits tables and sentences into the width of a terminal, so that it does not break lines.

// The longest line, in characters. Empty if lines may have any length, as in a pipe.
using LineWidth = std::optional<std::size_t>;

// Removes expendable columns with equal cells from a table of two or more rows, and returns them as "decoded/trained
// 1.00".
std::vector<std::string> take_shared_columns(TextTable& table);

// A table as text, and the headers of the columns that did not fit.
struct FittedTable {
  std::string text;
  std::vector<std::string> left_out;
};

// Renders a table that is no wider than `width`: leaves out one or two expendable columns; if that is not enough, puts
// the last column below each row if it is text, leaves out further columns, and shortens left-aligned cells. A table
// that still does not fit stays wider.
FittedTable fit(TextTable table, const LineWidth& width);

// Returns the fitted table, followed by a line that names the columns that did not fit and refers to `whole_in`, such
// as "--format csv", for all of them.
std::string fitted_text(const TextTable& table, const LineWidth& width, std::string_view whole_in);

// Breaks a line between words, and indents all but its first line. A word that is too long gets a separate line. The
// result does not end with a newline.
std::string wrapped(const std::string& line, const LineWidth& width, std::size_t indent);

// Breaks the long lines of a text: sentences, and rows whose last column is a sentence, which continues below its
// start. Commands and lines of JSON stay whole, so that they can be copied, and so do rows of numbers.
std::string fitted_lines(const std::string& text, const LineWidth& width);

}  // namespace chexbench::report
