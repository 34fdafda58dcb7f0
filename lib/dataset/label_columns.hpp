// The columns of a table of one's own: which of them are labels, and what a row's fields say.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/index.hpp"

namespace chexbench::dataset {

// Where the columns stand that are read.
struct LabelColumns {
  std::size_t count = 0;  // of the header
  std::size_t image = 0;
  std::vector<std::size_t> labels;  // without a separator; in the order of label_names
  std::vector<std::string> label_names;
  std::size_t joined = 0;  // with a separator: the one column of names
  std::optional<std::size_t> split, patient;
};

// @throws SpecError naming the key, the table and the nearest column (or all) for a name or pattern that fits none;
// DataError for a header that names a column twice
LabelColumns find_columns(std::string_view header, const spec::LabelsSpec& spec, const std::string& table);

// Reads the labels of one row after the other. With a separator the names are known, and numbered, at the end alone.
class LabelReader {
 public:
  LabelReader(const LabelColumns& columns, const spec::LabelsSpec& spec) : columns_(columns), spec_(spec) {}

  // With a separator, labels are numbered as they come, until finish().
  // @throws DataError naming `where`, the column and the value: neither 0 nor 1, or too many different names
  LabelBits read(const std::vector<std::string_view>& fields, std::string_view where);

  // The labels' names; numbers those of `rows` in the order of names. @throws DataError where the rows have no label
  std::vector<std::string> finish(const std::string& table, std::vector<IndexRow>& rows);

 private:
  LabelBits read_names(std::string_view field, std::string_view where);

  const LabelColumns& columns_;
  const spec::LabelsSpec& spec_;
  std::map<std::string, std::size_t, std::less<>> names_;  // and the order in which they came
};

// Whether `pattern` fits `name`; '*' stands for any text.
bool fits(std::string_view pattern, std::string_view name);

}  // namespace chexbench::dataset
