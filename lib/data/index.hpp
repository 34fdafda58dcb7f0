// The index of a ChestX-ray14 root: its label table and split lists. Whether the images are there is another matter
// (image_files.hpp).
// What a root may look like: any published edition of the table (2017: unquoted brackets with commas in the header, an
// empty last field; 2020: without it; `Patient Gender` or `Patient Sex`; ages 58, 058Y, 006M, 365D).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.hpp"
#include "data/store/data_root.hpp"

namespace chexbench::data {

// One row of the table.
struct IndexRow {
  std::string name;
  LabelBits labels = 0;
  std::uint32_t patient = 0;
  float age_years = -1;  // negative: unknown
  char sex = '?';        // M, F, or ? where the table has neither
  bool in_train = false;
  bool in_test = false;

  bool in(spec::Split split) const;
};

struct Index {
  std::string root;
  std::string table;           // path of the CSV
  std::vector<IndexRow> rows;  // in the order of names; names are unique
  bool has_train_list = false;
  bool has_test_list = false;
  std::vector<std::string> listed_without_row;  // names in a split list that the table lacks
};

// Reads table and lists. @throws DataError: no such root, no table, a row that cannot be read (file and line number; an
// unknown finding with the nearest known one), a name that comes twice
Index read_index(const DataRoot& root);

// The path of the root's table: the newest edition where there are several. @throws DataError where there is none
std::string find_table(const DataRoot& root);

// Names of findings joined by '|'. @throws DataError naming `where` and the nearest finding
LabelBits parse_labels(std::string_view field, std::string_view where);
std::string labels_text(LabelBits labels);

// Years; nothing where the text is not an age.
std::optional<float> parse_age_years(std::string_view field);

}  // namespace chexbench::data
