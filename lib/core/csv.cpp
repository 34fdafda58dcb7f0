#include "core/csv.hpp"

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace chexbench {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kDoubledQuote = "\"\"";

// Returns the position of the quote that closes the field at the beginning of `line`, or npos if the field is not
// quoted or not closed.
std::size_t closing_quote(std::string_view line) {
  if (!line.starts_with('"')) return std::string_view::npos;
  std::size_t quote = line.find('"', 1);
  while (quote != std::string_view::npos && line.substr(quote, 2) == kDoubledQuote) quote = line.find('"', quote + 2);
  return quote;
}

// Returns the position of a quote that opens a field and is not closed in the line, or npos. `begin` is the position of
// the first field to check.
std::size_t open_quote(std::string_view line, std::size_t begin, char separator) {
  while (begin < line.size()) {
    std::size_t end = begin;
    if (line[begin] == '"') {
      const std::size_t close = closing_quote(line.substr(begin));
      if (close == std::string_view::npos) return begin;
      end += close;
    }
    end = line.find(separator, end);
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  return std::string_view::npos;
}

// Returns whether the first records of a table have equally many fields with this separator, and the smallest number.
std::pair<bool, std::size_t> count_fields(std::string_view table, char separator) {
  constexpr int kRecords = 20;
  LineReader lines(table);
  std::vector<std::string_view> fields;
  std::size_t least = std::string_view::npos, most = 0;
  std::string_view record;
  for (int i = 0; i < kRecords && lines.next_record(record, separator); ++i) {
    if (trimmed(record).empty()) continue;
    split_csv_line(record, fields, separator);
    least = std::min(least, fields.size());
    most = std::max(most, fields.size());
  }
  return {least == most && least > 1, std::min(least, most)};
}

}  // namespace

LineReader::LineReader(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  const std::size_t first = rest_.find_first_of("\r\n");
  const bool ends_alone = first != std::string_view::npos && rest_.substr(first, 2) != "\r\n" && rest_[first] == '\r';
  if (ends_alone && std::ranges::count(rest_, '\r') > std::ranges::count(rest_, '\n')) end_ = '\r';
}

bool LineReader::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find(end_), rest_.size());
  line = rest_.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  number_ = ++lines_;
  return true;
}

bool LineReader::next_record(std::string_view& record, char separator) {
  if (!next(record)) return false;
  const std::size_t first = number_;
  const std::string_view text(record.data(), static_cast<std::size_t>(rest_.data() + rest_.size() - record.data()));
  std::size_t open = 0;
  while ((open = open_quote(record, open, separator)) != std::string_view::npos) {
    const std::size_t close = closing_quote(text.substr(open));
    if (close == std::string_view::npos) break;
    std::string_view line;
    while (record.size() <= open + close && next(line))
      record = text.substr(0, static_cast<std::size_t>(line.data() + line.size() - text.data()));
  }
  number_ = first;
  return true;
}

char csv_separator(std::string_view table) {
  constexpr std::string_view kSeparators = ",;\t";
  return *std::ranges::max_element(kSeparators, {}, [&](char separator) { return count_fields(table, separator); });
}

std::optional<char> stated_separator(std::string_view line) {
  if (line.size() == 7 && line.front() == '"' && line.back() == '"') line = line.substr(1, 5);
  const bool states_it = line.size() == 5 && lower_case(line.substr(0, 4)) == "sep=";
  return states_it ? std::optional(line[4]) : std::nullopt;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

void split_csv_line(std::string_view line, std::vector<std::string_view>& fields, char separator) {
  fields.clear();
  for (;;) {
    const std::size_t close = closing_quote(line);
    const std::size_t end = line.find(separator, close == std::string_view::npos ? 0 : close);
    std::string_view field = trimmed(line.substr(0, end));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

const std::vector<std::string_view>& CsvFields::split(std::string_view line) {
  split_csv_line(line, fields_, separator_);
  undone_.clear();
  for (std::string_view& field : fields_) {
    const bool is_quoted = field.data() != line.data() && field.data()[-1] == '"';
    if (!is_quoted || field.find(kDoubledQuote) == std::string_view::npos) continue;
    std::string& text = undone_.emplace_back(field);
    for (std::size_t at = 0; (at = text.find(kDoubledQuote, at)) != std::string::npos; ++at) text.erase(at, 1);
    field = text;
  }
  return fields_;
}

}  // namespace chexbench
