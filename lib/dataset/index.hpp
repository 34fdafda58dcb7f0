// The index of a root of any layout (layouts.hpp) lists its images with their labels and splits. Whether the image
// files exist is up to find_files().
// For ChestX-ray14, any published edition of the table is read. The edition of 2017 has unquoted brackets with commas
// in the header and an empty last field; that of 2020 has no such field. The sex is in `Patient Gender` or `Patient
// Sex`, and ages are written as 58, 058Y, 006M or 365D.
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

// One image of the index.
struct IndexRow {
  std::string_view name;  // in Index::names: as in the table, or the path in the root if the layout has no table
  LabelBits labels;
  std::uint32_t patient = 0;  // ChestX-ray14: the table's number; else counted from 0
  float age_years = -1;       // negative if unknown
  char sex = '?';             // M, F, or ? if unknown
  bool in_train = false;
  bool in_val = false;
  bool in_test = false;

  bool in(spec::Split split) const;  // true for every row if `split` is all
};

// A TFRecord shard, and the split whose images it holds.
struct IndexShard {
  bool IndexRow::*split = nullptr;
  std::string path;
};

// All rows of a root. It can be moved, but not copied, because its rows point into `names`.
struct Index {
  NameArena names;  // of the rows and files
  std::string root;
  spec::DataLayout layout = spec::DataLayout::nih;  // the layout that was found, never automatic
  std::string table;                                // path of the CSV, or the root itself if there is none
  std::vector<std::string> other_tables;            // further files that hold labels or splits
  std::vector<IndexRow> rows;                       // in the order of names, which are unique
  std::vector<std::string> label_names;             // as Dataset::label_names
  // Whether the root defines, by a list, a column or a folder, which images are in the split.
  bool has_train_list = false;
  bool has_val_list = false;
  bool has_test_list = false;
  // Whether the root names the patients. If not, each row counts as a separate patient.
  bool has_patients = false;
  std::vector<std::string> patient_names;  // indexed by IndexRow::patient; empty if the table numbers its patients
  std::string likely_patient_column;       // if has_patients is false: a column whose name suggests patients, or empty
  // Whether data.labels.uncertain and data.labels.blank may change an image's labels, so that records written under
  // another policy have different ones.
  bool has_unclear_labels = false;
  std::vector<std::string> listed_without_row;  // names in a split list that the table lacks
  std::vector<ImageFile> files;                 // only for layout folders, whose image files are the index
  PassedOver passed;                            // likewise: the files left out of them
  std::vector<IndexShard> shards;               // only for layout imagenet, whose shards are the index
};

// Reads the table and lists, or the folders, in which the root's layout keeps its labels. Thread-safe.
// @throws DataError if there is no such root or no table, a row cannot be read (the message gives file and line number,
// and for an unknown finding the nearest known one), or a name comes twice
// @throws SpecError if the table lacks a column that root.labels names; the message gives the nearest one
Index read_index(const storage::DataRoot& root);

// Returns the image files that exist, in the order of names: each under the name of its row if it has one, else under
// its own. Names and paths are kept in `names` or in the index. Sets `passed`, if there is one, to the files that are
// neither images nor used for the index. Thread-safe.
// @throws DataError if a folder cannot be read, a row's name could mean two files, or two rows mean one file
std::vector<ImageFile> find_files(const storage::DataRoot& root, const Index& index, NameArena& names,
                                  PassedOver* passed = nullptr);

// Sorts rows by name. @throws DataError naming `table` if a name comes twice
void sort_rows(std::vector<IndexRow>& rows, const std::string& table);

// Reads names of findings of ChestX-ray14 that are joined by '|'. `where` begins the message of an error.
// @throws DataError if a finding is unknown; the message gives the nearest known one
LabelBits parse_labels(std::string_view field, std::string_view where);
// Returns the names of the labels that are set, joined by '|', or "No Finding" if none is set.
std::string labels_text(const LabelBits& labels, std::span<const std::string> names);
std::string labels_text(const LabelBits& labels);  // uses the names of ChestX-ray14

// Returns the age in years, or std::nullopt if the text is not an age.
std::optional<float> parse_age_years(std::string_view field);

// The index of a data set whose shards are its index (data.layout imagenet), when several processes read it together:
// each reads the records of its share of the shards, and all of them join the shares into the index that read_index()
// returns.

// Returns whether the root is such a data set. Reads no shard. Thread-safe. @throws DataError as find_layout()
bool is_own_index(const storage::DataRoot& root);

// Reads the shards with the numbers `share`, `share` + `shares` and so on. Returns the images and labels in them as a
// text, which is never empty. Thread-safe. @throws DataError as read_index()
std::string read_index_share(const storage::DataRoot& root, int share, int shares);

// Returns the index of all shares, which are in the order of their numbers; std::nullopt if one of them is missing (an
// empty text) or belongs to other shards than those in the root. Thread-safe. @throws DataError as read_index()
std::optional<Index> join_index_shares(const storage::DataRoot& root, std::span<const std::string> shares);

}  // namespace chexbench::dataset
