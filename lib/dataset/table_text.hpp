// Reads a table that may be compressed.
#pragma once

#include <string>
#include <string_view>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

// The text of one table, which the object owns. A path that ends in .gz is inflated on the way. Example:
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
  std::string inflated_;
  std::string_view text_;
};

}  // namespace chexbench::dataset
