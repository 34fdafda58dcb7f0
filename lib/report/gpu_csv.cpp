#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/fields.hpp"

namespace chexbench::report {
namespace {

std::string header_line() {
  CsvRow row;
  for (const char* name : {"experiment", "trial", "repeat", "rank"}) row(name);
  const measure::GpuSample any;
  results::visit_gpu_sample([&row](const char* name, const auto&) { row(name); }, any);
  return std::move(row).line();
}

}  // namespace

std::string gpu_csv(const results::Report& report) {
  std::string lines;
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::GpuSeries& gpu : repeat.gpus) {
        for (const measure::GpuSample& sample : gpu.samples) {
          CsvRow row;
          row(report.experiment);
          row(trial.trial);
          row(repeat.repeat);
          row(gpu.rank);
          results::visit_gpu_sample([&row](const char*, const auto& value) { row(value); }, sample);
          lines += std::move(row).line();
        }
      }
    }
  }
  return lines.empty() ? "" : header_line() + lines;
}

}  // namespace chexbench::report
