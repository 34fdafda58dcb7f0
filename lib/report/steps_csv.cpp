#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "report/fields.hpp"

namespace chexbench::report {
namespace {

std::string header_line() {
  CsvRow row;
  for (const char* name : {"experiment", "trial", "repeat"}) row(name);
  const StepRecord any;
  visit_step([&row](const char* name, const auto&) { row(name); }, any);
  row("emulated");
  return std::move(row).line();
}

}  // namespace

std::string steps_csv(const Report& report) {
  std::string text = header_line();
  for (const TrialResult& trial : report.trials) {
    for (const RepeatResult& repeat : trial.repeats) {
      for (const StepRecord& step : repeat.steps) {
        CsvRow row;
        row(report.experiment);
        row(trial.trial);
        row(repeat.repeat);
        visit_step([&row](const char*, const auto& value) { row(value); }, step);
        row(trial.emulated);
        text += std::move(row).line();
      }
    }
  }
  return text;
}

}  // namespace chexbench::report
