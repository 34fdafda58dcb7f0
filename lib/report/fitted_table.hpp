// Fits tables and sentences into the width of a terminal, so that no line is broken by it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_table.hpp"

namespace chexbench::report {

// Columns of characters that a line may have. Empty where lines may be of any length, as in a pipe.
using LineWidth = std::optional<std::size_t>;

// Takes those expendable columns off a table of two rows or more whose cells are alike in all rows, and returns them as
// "decoded/trained 1.00".
std::vector<std::string> take_shared_columns(TextTable& table);

// A table as text, and the headers of the columns that had no room.
struct FittedTable {
  std::string text;
  std::vector<std::string> left_out;
};

// Renders a table that is no wider than `width`: leaves out an expendable column or two, or, where that is not enough,
// puts the last column below each row if it is one of text, leaves out further columns, and shortens what stands left.
// What cannot be made narrow enough stays wider.
FittedTable fit(TextTable table, const LineWidth& width);

// Returns the table that fits, and below it a line that names the columns without room. It says that `whole_in`, such
// as "--format csv", has all of them.
std::string fitted_text(const TextTable& table, const LineWidth& width, std::string_view whole_in);

// Breaks a line between words, and indents all but its first line. A word that is too long has a line of its own. The
// result has no line end.
std::string wrapped(const std::string& line, const LineWidth& width, std::size_t indent);

// Breaks the lines of a text that are too long: sentences, and rows whose last column is a sentence, which goes on
// under its begin. Commands and lines of JSON stay whole, so that they can be copied, and so do rows of numbers.
std::string fitted_lines(const std::string& text, const LineWidth& width);

}  // namespace chexbench::report
