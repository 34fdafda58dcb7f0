// Tables for other programs, as tidy CSV (RFC 4180, but lines end with LF): one row per thing measured, one value per
// field. Column names carry the units, undefined values are empty fields, and booleans are true and false. Lists have
// rows in files of their own. Each NAME_columns() describes the columns of NAME_csv(), by the same visits; csv_files()
// lists all files.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/evaluation.hpp"
#include "measure/gpu_window.hpp"
#include "measure/statistics.hpp"
#include "results/field.hpp"
#include "results/labels.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// The columns of a CSV file: the visits that write its fields also say what they hold, so that the two cannot differ.

// What a reader needs to know of one column.
struct Column {
  std::string name;
  std::string datatype;  // of CSVW, after XML Schema: string, boolean, integer, nonNegativeInteger, double
  std::string unit;      // "" if it has none
  std::string meaning;   // a phrase without a full stop
  std::string empty_if;  // when a field is empty: a clause without "if"; "" if none ever is
};

// A list, which a cell cannot hold.
template <class Value>
concept IsList =
    std::same_as<Value, std::vector<std::string>> || std::same_as<Value, std::optional<std::vector<std::string>>> ||
    std::same_as<Value, std::vector<measure::ThrottleShare>>;

// Returns the datatype of the fields that hold a `Value` or, if it is optional, its value.
template <class Value>
const char* datatype_of() {
  if constexpr (std::is_same_v<Value, bool>)
    return "boolean";
  else if constexpr (std::unsigned_integral<Value>)
    return "nonNegativeInteger";
  else if constexpr (std::integral<Value>)
    return "integer";
  else if constexpr (std::floating_point<Value>)
    return "double";
  else
    return "string";
}
template <class Value>
const char* datatype_of(const std::optional<Value>*) {
  return datatype_of<Value>();
}
template <class Value>
const char* datatype_of(const Value*) {
  return datatype_of<Value>();
}

// A visitor of fields that lists their columns.
class ColumnList {
 public:
  template <class Value>
  void operator()(const results::Field& field, const Value& value) {
    columns_.push_back({field.name, datatype_of(&value), field.unit, field.meaning, field.empty_if});
  }
  // A list has rows in a file of its own. Everything else must be a Field, so that it is described.
  void operator()(const char* /*name*/, const IsList auto& /*list*/) const {}
  // An interval has two columns.
  void operator()(const results::Field& field, const std::optional<measure::Interval>& /*value*/) {
    const std::string name = field.name, meaning = field.meaning;
    columns_.push_back({name + "_low", "double", field.unit, "lower end of the " + meaning, field.empty_if});
    columns_.push_back({name + "_high", "double", field.unit, "upper end of the " + meaning, field.empty_if});
  }

  // Returns the columns, and leaves the object empty.
  std::vector<Column> take() { return std::move(columns_); }

 private:
  std::vector<Column> columns_;
};

// Returns the columns that `visit_columns` visits in a row.
template <class Row>
std::vector<Column> columns_of(const Row& row) {
  ColumnList list;
  visit_columns(list, row);
  return list.take();
}

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

// The columns that several CSV files share.

inline constexpr results::Field kExperiment{"experiment", "", "name of the experiment"};
inline constexpr results::Field kTrial{"trial", "", "name of the trial: what differs between the trials of the run"};
inline constexpr results::Field kRepeat{"repeat", "", "number of the repeat, from 0"};
inline constexpr results::Field kRank{"rank", "", "number of the rank, from 0"};
inline constexpr results::Field kCoresPerRank{"cores_per_rank", "cores", "cores of each rank"};
inline constexpr results::Field kEmulated{"emulated", "",
                                          "the engine computed nothing: its steps took the time of a profile"};

// Visits the columns that tell trials apart and begin trials.csv and repeats.csv.
template <class Visitor>
void visit_arm(Visitor& visit, const results::Report& report, const results::TrialResult& trial) {
  using results::Field;
  visit(kExperiment, report.experiment);
  visit(kTrial, trial.name);
  visit(Field{"pipeline", "", "name of the pipeline", "the batches are ready-made"},
        results::pipeline_name(trial.spec));
  visit(Field{"format", "", "format of the data"}, to_string(trial.spec.data.format));
  visit(Field{"model", "", "name of the network"}, trial.spec.model.name);
  visit(Field{"engine", "", "engine that took the batches"}, trial.spec.engine);
  visit(Field{"precision", "", "precision of the training"}, to_string(trial.spec.training.precision));
  visit(Field{"ranks", "", "ranks that measured the trial together"}, trial.ranks);
  visit(Field{"batch_size", "images", "images of one rank's batch"}, trial.spec.training.batch_size);
}

}  // namespace chexbench::report
