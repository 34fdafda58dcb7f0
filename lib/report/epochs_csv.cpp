#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "report/shared_columns.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
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
