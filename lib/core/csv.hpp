// Reads CSV tables that are in memory, without copying: lines and fields are views into the caller's text, which must
// outlive them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench {

// Iterates over the lines of a text. A line ends with "\n" or "\r\n", which is removed, or with "\r" if the first line
// ends that way and the text has more of them than of "\n"; a last line without an end counts; a UTF-8 byte order mark
// at the beginning is skipped. Not thread-safe. Example:
//   LineReader lines(text);
//   for (std::string_view line; lines.next(line);) ...
class LineReader {
 public:
  explicit LineReader(std::string_view text);
  // Sets `line` to the next line and returns true, or returns false at the end of the text.
  bool next(std::string_view& line);
  // The same for a record of a table: the line, and the lines after it that continue a quoted field. A quote that is
  // never closed is plain text.
  bool next_record(std::string_view& record, char separator);
  // The number, counted from 1, of the last line returned by next(), or of the first line of next_record()'s record; 0
  // before the first.
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_;
  char end_ = '\n';
  std::size_t number_ = 0;
  std::size_t lines_ = 0;  // read so far
};

// Returns the separator of a table's columns: a comma, a semicolon (which spreadsheets write where a comma is the
// decimal point) or a tab, whichever gives its first records equally many fields, and the most.
char csv_separator(std::string_view table);
// Returns the separator that a line such as "sep=;" states, which spreadsheets do not count as part of the table.
std::optional<char> stated_separator(std::string_view line);

// Replaces `fields` with the fields of `line`; reusing `fields` saves allocations. A field whose first character is a
// double quote may hold separators; the quotes around it are removed, as are blanks around a field. A doubled quote in
// such a field (RFC 4180's escape) does not end it and stays doubled, because the fields are views into the line.
void split_csv_line(std::string_view line, std::vector<std::string_view>& fields, char separator = ',');

// The fields of one line at a time, with doubled quotes resolved. Not thread-safe.
class CsvFields {
 public:
  explicit CsvFields(char separator = ',') : separator_(separator) {}
  // Returns the fields of `line`, valid until the next call and as long as the line. Fields without doubled quotes are
  // views into it.
  const std::vector<std::string_view>& split(std::string_view line);

 private:
  std::vector<std::string_view> fields_;
  std::deque<std::string> undone_;
  char separator_;
};

// Returns `text` without the spaces, tabs and carriage returns at its ends. The result always points into `text`, even
// if it is empty, so that a caller can compute its position.
std::string_view trimmed(std::string_view text);

}  // namespace chexbench
