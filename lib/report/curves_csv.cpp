#include "report/curves_csv.hpp"

#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/curves_json.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

// One point or bin of a label's curve.
struct RocRow {
  const results::LabelCurves& label;
  std::size_t point;
};
struct ReliabilityRow {
  const results::LabelCurves& label;
  std::size_t bin;
};

template <class Visitor>
void visit_columns(Visitor& visit, const RocRow& row) {
  results::visit_roc_point(visit, row.label, row.point);
}

template <class Visitor>
void visit_columns(Visitor& visit, const ReliabilityRow& row) {
  results::visit_reliability_bin(visit, row.label, row.bin);
}

// The same in a run, whose columns stand before it.
template <class Row>
struct OfRun {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  int epoch;
  Row row;
};

template <class Visitor, class Row>
void visit_columns(Visitor& visit, const OfRun<Row>& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
  visit(results::Field{"epoch", "", "number of the epoch, the best of the repeat"}, row.epoch);
  visit_columns(visit, row.row);
}

std::size_t rows_of(const RocRow&) { return measure::kRocPoints; }
std::size_t rows_of(const ReliabilityRow&) { return measure::kReliabilityBins; }

// Returns a row that has the columns of all others.
template <class Row>
Row any_row() {
  static const results::LabelCurves label;
  return {label, 0};
}

template <class Row>
std::string csv_of(const std::vector<results::LabelCurves>& labels) {
  std::string text = header_line(columns_of(any_row<Row>()));
  for (const results::LabelCurves& label : labels)
    for (std::size_t i = 0; i < rows_of(any_row<Row>()); ++i) text += value_line(Row{label, i});
  return text;
}

template <class Row>
std::vector<Column> columns_of_run(const results::Report& report) {
  static const results::TrialResult trial;
  static const results::RepeatResult repeat;
  return columns_of(OfRun<Row>{report, trial, repeat, 0, any_row<Row>()});
}

template <class Row>
std::string csv_of_run(const results::Report& report) {
  std::string lines;
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::EpochRecord& epoch : repeat.epochs) {
        for (const results::LabelCurves& label : epoch.curves)
          for (std::size_t i = 0; i < rows_of(any_row<Row>()); ++i)
            lines += value_line(OfRun<Row>{report, trial, repeat, epoch.epoch, Row{label, i}});
      }
    }
  }
  return lines.empty() ? "" : header_line(columns_of_run<Row>(report)) + lines;
}

}  // namespace

std::string roc_csv(const std::vector<results::LabelCurves>& labels) { return csv_of<RocRow>(labels); }
std::string reliability_csv(const std::vector<results::LabelCurves>& labels) { return csv_of<ReliabilityRow>(labels); }

std::string roc_csv(const results::Report& report) { return csv_of_run<RocRow>(report); }
std::vector<Column> roc_columns(const results::Report& report) { return columns_of_run<RocRow>(report); }
std::string reliability_csv(const results::Report& report) { return csv_of_run<ReliabilityRow>(report); }
std::vector<Column> reliability_columns(const results::Report& report) {
  return columns_of_run<ReliabilityRow>(report);
}

namespace {

struct EpochRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  const results::EpochRecord& epoch;
};
struct ScoreRow {
  EpochRow place;
  const results::LabelScore& score;
};

template <class Visitor>
void visit_place(Visitor& visit, const EpochRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
}

template <class Visitor>
void visit_columns(Visitor& visit, const EpochRow& row) {
  visit_place(visit, row);
  results::visit_epoch(visit, row.epoch);
}

template <class Visitor>
void visit_columns(Visitor& visit, const ScoreRow& row) {
  visit_place(visit, row.place);
  visit(results::Field{"epoch", "", "number of the epoch, from 1"}, row.place.epoch.epoch);
  results::visit_label_score(visit, row.score);
}

// Calls `visit(row)` for every epoch of the report.
template <class Visit>
void for_each_epoch(const results::Report& report, Visit visit) {
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::EpochRecord& epoch : repeat.epochs)
        visit(EpochRow{.report = report, .trial = trial, .repeat = repeat, .epoch = epoch});
    }
  }
}

EpochRow any_epoch(const results::Report& report) {
  static const results::TrialResult trial;
  static const results::RepeatResult repeat;
  static const results::EpochRecord epoch;
  return {.report = report, .trial = trial, .repeat = repeat, .epoch = epoch};
}

}  // namespace

std::vector<Column> epochs_columns(const results::Report& report) { return columns_of(any_epoch(report)); }

std::string epochs_csv(const results::Report& report) {
  std::string lines;
  for_each_epoch(report, [&lines](const EpochRow& row) { lines += value_line(row); });
  return lines.empty() ? "" : header_line(epochs_columns(report)) + lines;
}

std::vector<Column> aurocs_columns(const results::Report& report) {
  return columns_of(ScoreRow{.place = any_epoch(report), .score = {}});
}

std::string aurocs_csv(const results::Report& report) {
  std::string lines;
  for_each_epoch(report, [&lines](const EpochRow& row) {
    for (const results::LabelScore& score : row.epoch.scores)
      lines += value_line(ScoreRow{.place = row, .score = score});
  });
  return lines.empty() ? "" : header_line(aurocs_columns(report)) + lines;
}

}  // namespace chexbench::report
