#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/disturbance.hpp"
#include "results/fields.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"

namespace chexbench::report {
namespace {

std::string repeats_header() {
  CsvRow row;
  for (const char* name : {"experiment", "trial", "pipeline", "format", "ranks"}) row(name);
  const results::RepeatResult any;
  results::visit_repeat([&row](const char* name, const auto&) { row(name); }, any);
  for (const char* name : {"disturbed", "emulated"}) row(name);
  return std::move(row).line();
}

}  // namespace

std::string repeats_csv(const results::Report& report) {
  std::string text = repeats_header();
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      CsvRow row;
      row(report.experiment);
      row(trial.trial);
      row(results::pipeline_name(trial.spec));
      row(to_string(trial.spec.data.format));
      row(trial.ranks);
      results::visit_repeat([&row](const char*, const auto& value) { row(value); }, repeat);
      row(results::is_disturbed(repeat));
      row(trial.emulated);
      text += std::move(row).line();
    }
  }
  return text;
}

}  // namespace chexbench::report
