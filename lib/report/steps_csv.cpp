#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "report/shared_columns.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

struct StepRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  const results::StepRecord& step;
};

template <class Visitor>
void visit_columns(Visitor& visit, const StepRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
  results::visit_step(visit, row.step);
  visit(kEmulated, row.trial.emulated);
}

}  // namespace

std::vector<Column> steps_columns(const results::Report& report) {
  return columns_of(StepRow{.report = report, .trial = {}, .repeat = {}, .step = {}});
}

std::string steps_csv(const results::Report& report) {
  std::string text = header_line(steps_columns(report));
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::StepRecord& step : repeat.steps) {
        text += value_line(StepRow{.report = report, .trial = trial, .repeat = repeat, .step = step});
      }
    }
  }
  return text;
}

}  // namespace chexbench::report
