#include "dataset/table_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::dataset {

namespace {

bool next_not_blank(LineReader& lines, std::string_view& record, char separator) {
  do {
    if (!lines.next_record(record, separator)) return false;
  } while (trimmed(record).empty());
  return true;
}

std::vector<std::string> copied(const std::vector<std::string_view>& fields) { return {fields.begin(), fields.end()}; }

}  // namespace

TableRows::TableRows(std::string_view text, std::string table, RowWidth width)
    : table_(std::move(table)), width_(width), lines_(text), separator_(csv_separator(text)) {
  std::string_view header;
  LineReader before = lines_;
  if (std::string_view line; before.next(line)) {
    if (const std::optional<char> stated = stated_separator(line)) {
      separator_ = *stated;
      lines_ = before;
    }
  }
  if (!lines_.next_record(header, separator_)) throw DataError(fmt::format("{}: the file is empty", table_));
  split_ = CsvFields(separator_);
  names_ = copied(split_.split(header));
}

std::vector<std::string> TableRows::following() const {
  LineReader lines = lines_;
  std::string_view record;
  if (!next_not_blank(lines, record, separator_)) return {};
  return copied(CsvFields(separator_).split(record));
}

bool TableRows::next() {
  std::string_view record;
  if (!next_not_blank(lines_, record, separator_)) return false;
  where_.clear();
  fmt::format_to(fmt::appender(where_), "{}:{}", table_, lines_.number());
  fields_ = &split_.split(record);
  if (fields_->size() == names_.size() || width_ == RowWidth::any) return true;
  throw DataError(fmt::format("{}: the row has {} fields, the header has {}", where(), fields_->size(), names_.size()));
}

std::size_t TableRows::column(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found != names_.end()) return static_cast<std::size_t>(found - names_.begin());
  throw DataError(
      fmt::format("{}:1: the header has no column '{}'{}", table_, name, suggestion(std::string(name), names_)));
}

}  // namespace chexbench::dataset
