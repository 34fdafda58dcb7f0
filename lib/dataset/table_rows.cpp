#include "dataset/table_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/errors.hpp"

namespace chexbench::dataset {

TableRows::TableRows(std::string_view text, std::string table) : table_(std::move(table)), lines_(text) {
  if (!lines_.next(header_)) throw DataError(fmt::format("{}: the file is empty", table_));
  split_ = CsvFields(csv_separator(header_));
  columns_ = split_.split(header_).size();
}

bool TableRows::next() {
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (trimmed(line).empty());
  where_.clear();
  fmt::format_to(fmt::appender(where_), "{}:{}", table_, lines_.number());
  fields_ = &split_.split(line);
  if (fields_->size() == columns_) return true;
  throw DataError(fmt::format("{}: the row has {} fields, the header has {}", where(), fields_->size(), columns_));
}

std::size_t TableRows::column(std::string_view name) const {
  CsvFields split(csv_separator(header_));
  const std::vector<std::string_view>& names = split.split(header_);
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw DataError(fmt::format("{}:1: the header has no column '{}'{}", table_, name,
                              suggestion(std::string(name), std::vector<std::string>(names.begin(), names.end()))));
}

}  // namespace chexbench::dataset
