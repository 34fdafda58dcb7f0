// Reads a table that may be compressed or in UTF-16.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

// The text of one table, which the object owns. A path that ends in .gz is inflated on the way, and UTF-16 becomes
// UTF-8. Example:
//   const TableText table(*root.store, root.path + "/labels.csv.gz");
//   for (TableRows rows(table.text(), table.path()); rows.next();) ...
class TableText {
 public:
  // @throws DataError if the file cannot be read, is damaged, or has more than 512 MiB when it is inflated
  TableText(const storage::Store& store, std::string path);
  TableText(const TableText&) = delete;
  TableText& operator=(const TableText&) = delete;

  const std::string& path() const { return path_; }
  std::string_view text() const { return text_; }

 private:
  const std::string path_;
  storage::ByteBuffer buffer_;
  std::string made_;  // if it is not the text of the file itself
  std::string_view text_;
};

// Returns the beginning of a table that is not compressed, as TableText has it. @throws DataError if it cannot be read
std::string table_head(const storage::Store& store, const std::string& path);

// Returns the text as UTF-8 if it is UTF-16 of either byte order, known by its mark or by the zeros of its first
// character; else std::nullopt. Halves of characters become U+FFFD.
std::optional<std::string> from_utf16(std::string_view text);

}  // namespace chexbench::dataset
