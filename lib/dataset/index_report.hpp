// Counts the contents of a data set root, for `chexbench data index`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/index.hpp"

namespace chexbench::dataset {

// The counts of one split.
struct SplitCount {
  std::size_t rows = 0;   // rows of the table in the split
  std::size_t files = 0;  // those of them that have an image file
};

// The shards of one split in one format.
struct ShardCount {
  spec::DataFormat format = spec::DataFormat::tfrecord;
  spec::Split split = spec::Split::train;
  std::size_t count = 0;  // how many there are, or will be when their conversion ends
  std::string problem;    // why no run can read them, or empty
};

struct IndexReport {
  std::string root;
  std::string table;
  spec::DataLayout layout = spec::DataLayout::nih;
  std::size_t rows = 0;
  std::optional<std::size_t> patients;  // empty if the root does not name the patients
  std::string likely_patient_column;    // then: the column of the table that may name them, or empty
  float median_age_years = -1;          // of the rows with an age; negative if there are none
  std::size_t women = 0;                // rows, not patients
  std::size_t men = 0;                  // rows, not patients
  std::size_t no_finding = 0;           // rows without a label
  std::vector<std::string> label_names;
  std::vector<std::size_t> label_rows;  // rows that have each label
  std::size_t ignored_labels = 0;       // labels of rows that loss and scores leave out, according to data.labels
  SplitCount train, val, test;
  std::size_t in_no_split = 0;    // rows
  std::size_t in_both_lists = 0;  // rows in more than one split
  std::size_t files = 0;
  std::size_t png_files = 0;    // by their endings
  std::size_t dicom_files = 0;  // likewise; all others are JPEGs
  std::size_t files_of_known_size = 0;
  std::uint64_t file_bytes = 0;                 // files whose size the store does not report count as 0
  std::vector<std::string> missing;             // rows without a file; none where shards are the index
  std::vector<std::string> orphans;             // files without a row
  std::vector<std::string> listed_without_row;  // in a split list, but not in the table
  PassedOver passed;                            // files that are neither images with a row nor read for the index
  std::optional<std::vector<std::string>> patients_in_both_splits;  // as the function below
  std::vector<ShardCount> shards;                                   // by format, then by split
  std::vector<std::string> cached_files;                            // names of the files of cached pixels
  std::string dicom_file;   // if there are no images and nothing was converted: a file that is not read, or empty
  std::string layout_file;  // the folder's own file on how to read it, or empty: set by the caller that reads it
  std::string next;         // what to do next; report_index() leaves it empty

  // Returns whether a row has an image file.
  bool has_images() const { return files > 0 && missing.size() < rows; }
  // Returns the mean size of the files whose size is known, or std::nullopt if there are none.
  std::optional<double> mean_file_bytes() const {
    if (files_of_known_size == 0) return std::nullopt;
    return static_cast<double>(file_bytes) / static_cast<double>(files_of_known_size);
  }
};

// Returns the patients in both train and test, where there should be none. Their names or, in ChestX-ray14, numbers;
// std::nullopt if the root does not name the patients. Thread-safe.
std::optional<std::vector<std::string>> patients_in_both_splits(const Index& index);

// Reads table, lists and folders, but not the images. Thread-safe.
// @throws DataError as read_index() and find_files()
// @throws SpecError as read_index()
IndexReport report_index(const storage::DataRoot& root);

// Returns the shell command that measures how fast the root delivers its images, or its shards if it has no images.
// `overrides` are the keys with which the root was opened, such as "data.layout=csv". If there is nothing to read,
// returns the remedy.
std::string next_step(const IndexReport& report, const std::vector<std::string>& overrides);

// Returns the answer, then one `key: value` per line, with the names of at most `shown` files or patients after each
// count; if `brief`, only those that are needed to judge the set, and without zeros.
std::string index_report_text(const IndexReport& report, std::size_t shown = 5, bool brief = false);

// Returns the same as a JSON object with all names. Unknown values are null; bytes that are not UTF-8 become U+FFFD.
std::string index_report_json(const IndexReport& report);

}  // namespace chexbench::dataset
