// Reads the rows of a table that has one header, with their line numbers.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/csv.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// How many fields a row may have.
enum class RowWidth { of_header, any };

// The rows of one table, one after the other. Its separator is found by csv_separator() or stated in a line before the
// header; a field in quotes may go on in further lines. `text` must outlive it. Not thread-safe. Example:
//   for (TableRows rows(text, path); rows.next();) use(rows.fields(), rows.where());
class TableRows {
 public:
  // `table` is the path that messages name. @throws DataError if the text has no line
  TableRows(std::string_view text, std::string table, RowWidth width = RowWidth::of_header);

  // The names in the header.
  const std::vector<std::string>& names() const { return names_; }
  // Returns the fields of the next row, or none if there is none.
  std::vector<std::string> following() const;
  // Advances to the next row that is not blank and returns true, or returns false at the end.
  // @throws DataError naming the row if it has more or fewer fields than the header, unless it may
  bool next();
  // The fields of the row, valid until the next call of next().
  const std::vector<std::string_view>& fields() const { return *fields_; }
  // The table and the row's line number: the beginning of a message about the row.
  std::string_view where() const { return {where_.data(), where_.size()}; }
  // Returns the index of a column in the header. @throws DataError naming the table and the nearest columns if it has
  // no such column
  std::size_t column(std::string_view name) const;

 private:
  const std::string table_;
  const RowWidth width_;
  LineReader lines_;
  char separator_;
  std::vector<std::string> names_;
  CsvFields split_;
  const std::vector<std::string_view>* fields_ = nullptr;
  fmt::memory_buffer where_;
};

// Reads a table that may be compressed or in UTF-16.
// The text of one table, which the object owns. A path that ends in .gz is inflated on the way, and UTF-16 becomes
// UTF-8. Example:
//   const TableText table(*root.store, root.path + "/labels.csv.gz");
//   for (TableRows rows(table.text(), table.path()); rows.next();) ...
class TableText {
 public:
  // @throws DataError if the file cannot be read, is damaged, or exceeds 512 MiB when it is inflated
  TableText(const storage::Store& store, std::string path);
  TableText(const TableText&) = delete;
  TableText& operator=(const TableText&) = delete;

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }

 private:
  const std::string path_;
  storage::ByteBuffer buffer_;
  std::string made_;  // if it is not the file's own text
  std::string_view text_;
};

// Returns the beginning of a table that is not compressed, in the form of TableText. @throws DataError if it cannot be
// read
std::string table_head(const storage::Store& store, const std::string& path);

// Returns the text as UTF-8 if it is UTF-16 of either byte order, known by its mark or by the zeros of its first
// character; else std::nullopt. Halves of characters become U+FFFD.
std::optional<std::string> from_utf16(std::string_view text);

}  // namespace chexbench::dataset
