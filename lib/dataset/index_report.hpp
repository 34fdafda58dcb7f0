// What a data set root holds, counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/index.hpp"

namespace chexbench::dataset {

struct SplitCount {
  std::size_t rows = 0;    // that the list names and the table has
  std::size_t files = 0;   // of these, with an image file
  std::size_t shards = 0;  // TFRecord shards, 0 where it is not converted
};

struct IndexReport {
  std::string root;
  std::string table;
  spec::DataLayout layout = spec::DataLayout::nih;
  std::size_t rows = 0;
  std::size_t patients = 0;
  float median_age_years = -1;  // negative: no row has an age
  std::size_t women = 0;        // rows
  std::size_t men = 0;
  std::size_t no_finding = 0;
  std::vector<std::string> label_names;
  std::vector<std::size_t> label_rows;  // of each label
  SplitCount train, val, test;
  std::size_t in_no_split = 0;
  std::size_t in_both_lists = 0;  // in more than one split
  std::size_t files = 0;
  std::uint64_t file_bytes = 0;
  std::vector<std::string> missing;                    // rows without a file
  std::vector<std::string> orphans;                    // files without a row
  std::vector<std::string> listed_without_row;         // in a split list, not in the table
  std::vector<std::uint32_t> patients_in_both_splits;  // what a network saw in training must not be in its test
};

// Reads table, lists and folders; not the images. @throws DataError as read_index()
IndexReport report_index(const storage::DataRoot& root);

// One `key: value` a line, names of at most `shown` files or patients behind each count.
std::string index_report_text(const IndexReport& report, std::size_t shown = 5);

}  // namespace chexbench::dataset
