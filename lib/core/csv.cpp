#include "core/csv.hpp"

#include <algorithm>

namespace chexbench {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kDoubledQuote = "\"\"";

// Returns the place of the quote that closes the field at the beginning of `line`, or npos if no quote opens or none
// closes it.
std::size_t closing_quote(std::string_view line) {
  if (!line.starts_with('"')) return std::string_view::npos;
  std::size_t quote = line.find('"', 1);
  while (quote != std::string_view::npos && line.substr(quote, 2) == kDoubledQuote) quote = line.find('"', quote + 2);
  return quote;
}

}  // namespace

LineReader::LineReader(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineReader::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line = rest_.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return true;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

char csv_separator(std::string_view header) {
  for (const char separator : {',', ';', '\t'}) {
    if (header.find(separator) != std::string_view::npos) return separator;
  }
  return ',';
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
