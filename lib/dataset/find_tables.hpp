// Finds the tables in a folder and identifies their origin, for all layouts that have one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/data_root.hpp"

namespace chexbench::dataset {

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

}  // namespace chexbench::dataset
