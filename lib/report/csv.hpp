// Tables for other programs, as tidy CSV (RFC 4180, but lines end with LF): one row per thing measured, one value per
// field. Column names carry the units, undefined values are empty fields, and booleans are true and false. Lists have
// rows in separate files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/derive.hpp"
#include "report/csv_table.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// A CSV file that a run may write.
struct CsvFile {
  const char* name;  // "trials.csv"
  const char* rows;  // the meaning of a row, as a sentence without a full stop
  void (*add_rows)(CsvTable&, const analysis::Evaluation&);
  bool has_settings = false;  // its rows end with the keys in which trials differ (swept_keys.hpp)
  bool has_header = false;    // even without rows; other files are then empty
};

// Returns all of them, in the order in which they are written. A file whose text is empty is not written.
std::span<const CsvFile> csv_files();

// Returns the text of the file of this name, which must be one of csv_files().
std::string csv_text(std::string_view name, const analysis::Evaluation& evaluation);

// Returns csv-metadata.json, which describes the columns of the files named in `written`, as CSVW metadata (W3C,
// "Metadata Vocabulary for Tabular Data"). CSVW processors look for this name in the folder of a CSV file.
std::string csv_metadata(const results::Report& report, const std::vector<std::string>& written);

// The curves of labels without a trial, with a header: one row per point of a ROC curve, and one per bin.
std::string roc_csv(const std::vector<results::LabelCurves>& labels);
std::string reliability_csv(const std::vector<results::LabelCurves>& labels);

// Parts of the files that csv.cpp and trials_csv.cpp share.

// Adds the rows of trials.csv, whose first columns, up to `emulated`, keep their places; programs find the others by
// their names.
void add_trials(CsvTable& table, const analysis::Evaluation& evaluation);

inline constexpr results::Field kCoresPerRank{"cores_per_rank", "cores", "cores of each rank"};
inline constexpr results::Field kEmulated{"emulated", "", "nothing was computed: steps took the time of a profile"};

// Adds the cells that identify trials, at the start of the rows of trials.csv and repeats.csv.
void add_arm(CsvTable& table, const results::Report& report, const results::TrialResult& trial);

}  // namespace chexbench::report
