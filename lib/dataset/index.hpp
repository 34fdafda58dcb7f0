// The index of a root: which images it has, their labels and splits, from whatever layout it has (layouts.hpp). Whether
// the images are there is another matter: find_files().
// What a root of ChestX-ray14 may look like: any published edition of the table (2017: unquoted brackets with commas in
// the header, an empty last field; 2020: without it; `Patient Gender` or `Patient Sex`; ages 58, 058Y, 006M, 365D).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/dataset.hpp"
#include "dataset/image_files.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// One image.
struct IndexRow {
  std::string name;  // as the table has it, or its path in the root where the layout has no table
  LabelBits labels;
  std::uint32_t patient = 0;
  float age_years = -1;  // negative: unknown
  char sex = '?';        // M, F, or ? where the table has neither
  bool in_train = false;
  bool in_val = false;
  bool in_test = false;

  bool in(spec::Split split) const;
};

struct Index {
  std::string root;
  spec::DataLayout layout = spec::DataLayout::nih;  // that was found, never automatic
  std::string table;                                // path of the CSV; the root itself where there is none
  std::vector<IndexRow> rows;                       // in the order of names; names are unique
  std::vector<std::string> label_names;             // as Dataset::label_names
  bool has_train_list = false;  // whether the root tells, by a list, a column or a folder, which images are in a split
  bool has_val_list = false;
  bool has_test_list = false;
  std::vector<std::string> listed_without_row;  // names in a split list that the table lacks
  std::vector<ImageFile> files;                 // of layout folders, whose files are its index
};

// Reads what the root's layout keeps its labels in. @throws DataError: no such root, no table, a row that cannot be
// read (file and line number; an unknown finding with the nearest known one), a name that comes twice; SpecError: a
// column that the table lacks, with the nearest one that it has
Index read_index(const storage::DataRoot& root);

// The images that are there, under the names of their rows where they have one, in the order of names.
// @throws DataError: a folder cannot be read, or a row's name could mean two files
std::vector<ImageFile> find_files(const storage::DataRoot& root, const Index& index);

// Sorts rows by name. @throws DataError naming the table where a name comes twice
void sort_rows(std::vector<IndexRow>& rows, const std::string& table);

// Names of findings joined by '|'. @throws DataError naming `where` and the nearest finding
LabelBits parse_labels(std::string_view field, std::string_view where);
// The names of the labels that are set, joined by '|'; "No Finding" where none is.
std::string labels_text(const LabelBits& labels, std::span<const std::string> names);
std::string labels_text(const LabelBits& labels);  // of ChestX-ray14

// Years; nothing where the text is not an age.
std::optional<float> parse_age_years(std::string_view field);

}  // namespace chexbench::dataset
