// Tables for other programs, as tidy CSV (RFC 4180, but lines end with LF): one row per thing measured, one value per
// field. Column names carry the units, undefined values are empty fields, and booleans are true and false. Lists have
// rows in files of their own. Each NAME_columns() describes the columns of NAME_csv(), by the same visits; csv_files()
// lists all files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/evaluation.hpp"
#include "report/column.hpp"

namespace chexbench::report {

// One row per trial. The first columns, up to `emulated`, keep their places; find the others by their names. After
// them, each key in which trials differ has a column (swept_keys.hpp).
std::string trials_csv(const analysis::Evaluation& evaluation);
std::vector<Column> trials_columns(const results::Report& report);

// One row per repeat, disturbed ones included. Like trials.csv, it ends with the keys in which trials differ.
std::string repeats_csv(const results::Report& report);
std::vector<Column> repeats_columns(const results::Report& report);

// One row per measured step of each rank.
std::string steps_csv(const results::Report& report);
std::vector<Column> steps_columns(const results::Report& report);

// One row per op of each repeat, summed over the ranks.
std::string ops_csv(const results::Report& report);
std::vector<Column> ops_columns(const results::Report& report);

// The files below are empty, without a header, if they have no row.

// One row for each op and part that a trial waits for, the longest wait first.
std::string waits_csv(const analysis::Evaluation& evaluation);
std::vector<Column> waits_columns(const results::Report& report);

// One row for each throttle reason that the GPUs of a trial had, the most frequent first.
std::string throttle_csv(const results::Report& report);
std::vector<Column> throttle_columns(const results::Report& report);

// One row per note of a trial.
std::string notes_csv(const results::Report& report);
std::vector<Column> notes_columns(const results::Report& report);

// One row per epoch of a training.
std::string epochs_csv(const results::Report& report);
std::vector<Column> epochs_columns(const results::Report& report);

// One row per label of each epoch.
std::string aurocs_csv(const results::Report& report);
std::vector<Column> aurocs_columns(const results::Report& report);

// One row per point of the ROC curve of each label, of the best epoch of each repeat.
std::string roc_csv(const results::Report& report);
std::vector<Column> roc_columns(const results::Report& report);

// One row per bin of probabilities of each label, of the same epochs.
std::string reliability_csv(const results::Report& report);
std::vector<Column> reliability_columns(const results::Report& report);

// One row per sample of each rank's GPU.
std::string gpu_csv(const results::Report& report);
std::vector<Column> gpu_columns(const results::Report& report);

// One row per throttle reason of each such sample.
std::string gpu_throttle_csv(const results::Report& report);
std::vector<Column> gpu_throttle_columns(const results::Report& report);

// A CSV file that a run may write.
struct CsvFile {
  const char* name;  // "trials.csv"
  const char* rows;  // what a row is, as a sentence without a full stop
  std::string (*text)(const analysis::Evaluation&);
  std::vector<Column> (*columns)(const results::Report&);
};

// Returns all of them, in the order in which they are written. A file whose text is empty is not written.
std::span<const CsvFile> csv_files();

// Returns csv-metadata.json, which describes the columns of the files named in `written`, as CSVW metadata (W3C,
// "Metadata Vocabulary for Tabular Data"). CSVW's processors look for it by this name beside a CSV file.
std::string csv_metadata(const results::Report& report, const std::vector<std::string>& written);

}  // namespace chexbench::report
