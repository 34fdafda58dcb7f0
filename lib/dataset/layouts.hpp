// The layouts of roots: the ways in which a root can store its labels, and the tables by which they are found. Each is
// read into the same Index.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/index.hpp"
#include "storage/data_root.hpp"

namespace chexbench::dataset {

// The origin of a table in a folder.
enum class TableKind {
  nih,       // Data_Entry*.csv; if letters differ in case, with its columns
  mimic,     // mimic-cxr-*-chexpert.csv, also as .gz
  chexpert,  // train.csv or valid.csv with CheXpert's columns
  result,    // of a run or an evaluation of chexbench: never one of labels
  own,       // any other .csv
};

struct FoundTable {
  std::string name;
  TableKind kind = TableKind::own;
};

// Returns the tables among the entries of a folder, by name. The ending .csv counts in any case; hidden files, such as
// macOS's companions ._NAME, are not tables. Reads the beginnings of a few that their names do not identify; the
// others, and unreadable ones, count as `own`. Thread-safe.
std::vector<FoundTable> find_tables(const storage::Store& store, const std::string& folder,
                                    std::span<const storage::StoreEntry> entries);

// Returns whether one of the tables is of that kind.
bool has_kind(std::span<const FoundTable> tables, TableKind kind);

// Returns whether a folder with these entries is the output of a run or an evaluation of chexbench.
bool is_results_folder(std::span<const storage::StoreEntry> entries);

// Returns the path of the user's own table: the one that data.labels.csv names, or else the root's only one. The log
// lists the other tables with their origin. @throws DataError if there is none, or several
std::string find_own_table(const storage::DataRoot& root, std::span<const FoundTable> tables);

struct FoundLayout {
  spec::DataLayout layout = spec::DataLayout::automatic;
  std::vector<FoundTable> tables;  // of the root, for the layouts nih and csv
};

// Returns the layout of the root, which is never automatic. It is root.layout or, if that is automatic, the first of
// these that fits the root's own entries: a Data_Entry*.csv (nih), a mimic-cxr-*-chexpert.csv (mimic), a train.csv or
// valid.csv with CheXpert's columns (chexpert), any other *.csv that is not a result of chexbench (csv), a folder or an
// image (folders). Folders in the root are listed only to distinguish classes from a data set that is one folder
// further down. Thread-safe.
// @throws DataError if there is no such root, it cannot be read, none of these fits, or the root has no table but just
// one of its folders (at most 16) is a data set
FoundLayout find_layout(const storage::DataRoot& root);

// Reads ChestX-ray14: Data_Entry_2017.csv (or the latest edition present), train_val_list.txt and test_list.txt. A
// missing list is not an error. Thread-safe.
// @throws DataError if there is no table, a file cannot be read, a row is wrong (the message gives file and line), or a
// name comes twice
Index read_nih_layout(const storage::DataRoot& root, std::span<const FoundTable> tables);

// Reads the user's own table, described by root.labels. Its quoted fields may contain commas and line breaks.
// label_names are the columns of 0 and 1 in the order in which root.labels.columns names them (those of one pattern in
// the order of the table) or, if root.labels.separator is set, all names in the one column, sorted. Patients are
// numbered from 0 in the order of their names; without a column for them, each image is a separate patient.
// Thread-safe.
// @throws DataError if there is no table or more than one, it cannot be read, a row is wrong (the message gives file,
// line and column), or a name comes twice
// @throws SpecError as find_columns()
Index read_csv_layout(const storage::DataRoot& root, std::span<const FoundTable> tables);

// Reads folders of classes: ROOT/CLASS/..., or ROOT/SPLIT/CLASS/... if a folder in ROOT has the name of a split.
// label_names are the folders with an image in any split, sorted. Each image has one label and is a separate patient.
// Logs a warning if images are in no such folder, and leaves them out; if none is in one, all are one class, `images`.
// Warns about folders that look like splits but are read as classes or are inside classes. Thread-safe.
// @throws DataError if there is no image, or a folder cannot be read
Index read_folder_layout(const storage::DataRoot& root);

// Reads CheXpert: train.csv, valid.csv and test.csv or test_labels.csv, at least one of them. A row's name is the last
// three parts of its path (patient00001/study1/view1_frontal.jpg), because the folders above differ between editions.
// Thread-safe.
// @throws DataError if there is no table, a row is wrong (the message gives file and line), or a name comes twice
// @throws SpecError as find_columns()
Index read_chexpert_layout(const storage::DataRoot& root);
// Returns whether a table with these columns is one of CheXpert's.
bool is_chexpert_header(const std::vector<std::string>& names);
std::vector<ImageFile> find_chexpert_files(const storage::DataRoot& root, NameArena& names, PassedOver* passed);

// Reads MIMIC-CXR-JPG: mimic-cxr-*-chexpert.csv, joined by study with mimic-cxr-*-split.csv; either may be a .gz. A
// row's name is its path below files/ (p10/p10000032/s50414267/ID.jpg). Images of studies without labels are left out
// with a warning. Thread-safe.
// @throws DataError and SpecError as read_chexpert_layout()
Index read_mimic_layout(const storage::DataRoot& root);
// Returns whether a table of that name has MIMIC-CXR-JPG's labels.
bool is_mimic_table(std::string_view name);
std::vector<ImageFile> find_mimic_files(const storage::DataRoot& root, NameArena& names, PassedOver* passed);

// Returns whether the folder contains TensorFlow's shards of ImageNet, train-00000-of-01024 and
// validation-00000-of-00128, directly or in folders train and validation.
bool has_imagenet_shards(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries);

// Reads such shards: each record's image/filename, image/class/label (from 1) and, as the name of the class,
// image/class/synset. There are root.labels.classes of them or, if that is 0, the number is the highest label. Each
// image is a separate patient. Reads all records, but in mapped shards not the images in them. Thread-safe.
// @throws DataError if there are no shards, one is missing or damaged, a record lacks a key, or its class is out of
// range (the message gives file and offset)
Index read_imagenet_layout(const storage::DataRoot& root);

// Returns `files`, which are in the order of names, each under the name of the matching row and again in the order of
// names. A row's name is a path in the root or else the file's own name in any folder, with or without its ending. A
// row with another image ending matches the file if no other row does. Files without a matching row keep their names.
// Thread-safe.
// @throws DataError if a name could mean two files, or two rows mean one file
std::vector<ImageFile> match_files(const Index& index, std::vector<ImageFile> files);

// Returns the member that marks the split denoted by a folder or field of that name, in any case (train, training; val,
// valid, validate, validation, dev; test, testing, eval, evaluation), or null for any other name.
bool IndexRow::*split_called(std::string_view name);
// Returns whether a word of the name is the name of a split, as in "train_images" or "Test set 2".
bool suggests_split(std::string_view name);
// Notes in `index` that the root defines which images are in the split.
void note_split(bool IndexRow::*split, Index& index);

// Returns whether the name contains a byte below 0x20 or 0x7f. No table may name such an image, because names go into
// messages, reports and paths.
bool has_control_character(std::string_view name);

}  // namespace chexbench::dataset
