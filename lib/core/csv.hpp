// Reading CSV tables that lie in memory, without copies.
#pragma once

#include <string_view>
#include <vector>

namespace chexbench {

// The lines of a text. A final line without newline counts; "\r\n" ends a line as "\n" does; a byte order mark at the
// beginning is skipped. Example: for (std::string_view line; lines.next(line);) ...
class LineReader {
 public:
  explicit LineReader(std::string_view text);
  bool next(std::string_view& line);
  // Of the line that next() gave last, counted from 1.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// Splits a line at its commas, into `fields` (its memory is reused). A field in double quotes may hold commas and loses
// its quotes; doubled quotes inside it stay doubled (no column read here has any). Blanks around a field are dropped.
void split_csv_line(std::string_view line, std::vector<std::string_view>& fields);

// `text` without blanks at its ends: a part of it even where nothing is left, so that its place is known.
std::string_view trimmed(std::string_view text);

}  // namespace chexbench
