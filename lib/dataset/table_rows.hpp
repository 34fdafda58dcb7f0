// Reads the rows of a table that has one header, and knows where each stands.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"

namespace chexbench::dataset {

// The rows of one table, one after the other. `text` must outlive it. Not thread-safe. Example:
//   for (TableRows rows(text, path); rows.next();) use(rows.fields(), rows.where());
class TableRows {
 public:
  // `table` is the path that messages name. @throws DataError if the text has no line
  TableRows(std::string_view text, std::string table);

  // The first line.
  std::string_view header() const { return header_; }
  // Goes to the next row that is not blank and returns true, or returns false at the end.
  // @throws DataError naming the row if it has more or fewer fields than the header
  bool next();
  // The fields of the row, valid until the next call of next().
  const std::vector<std::string_view>& fields() const { return *fields_; }
  // The table and the number of the row's line: how a message about the row begins.
  std::string_view where() const { return {where_.data(), where_.size()}; }
  // Returns the place of a column in the header. @throws DataError naming the table and the nearest columns if it has
  // no such column
  std::size_t column(std::string_view name) const;

 private:
  const std::string table_;
  LineReader lines_;
  std::string_view header_;
  std::size_t columns_ = 0;
  CsvFields split_;
  const std::vector<std::string_view>* fields_ = nullptr;
  fmt::memory_buffer where_;
};

}  // namespace chexbench::dataset
