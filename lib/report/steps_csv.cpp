#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

std::string steps_header() {
  CsvRow row;
  for (const char* name : {"experiment", "trial", "repeat"}) row(name);
  const results::StepRecord any;
  results::visit_step([&row](const char* name, const auto&) { row(name); }, any);
  row("emulated");
  return std::move(row).line();
}

}  // namespace

std::string steps_csv(const results::Report& report) {
  std::string text = steps_header();
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::StepRecord& step : repeat.steps) {
        CsvRow row;
        row(report.experiment);
        row(trial.trial);
        row(repeat.repeat);
        results::visit_step([&row](const char*, const auto& value) { row(value); }, step);
        row(trial.emulated);
        text += std::move(row).line();
      }
    }
  }
  return text;
}

}  // namespace chexbench::report
