// Fits tables and sentences into the width of a terminal, so that it does not break lines.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_table.hpp"

namespace chexbench::report {

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
