#include "measure/gpu_window.hpp"
#include "report/csv.hpp"
#include "report/csv_row.hpp"
#include "results/gpu_fields.hpp"

namespace chexbench::report {
namespace {

using results::Field;

// What rows of gpu.csv and gpu_throttle.csv are made from. `reason` is that of a row of gpu_throttle.csv.
struct GpuRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::RepeatResult& repeat;
  int rank = 0;
  const measure::GpuSample& sample;
};
struct ReasonRow {
  GpuRow gpu;
  std::string reason;
};

template <class Visitor>
void visit_place(Visitor& visit, const GpuRow& row) {
  visit(kExperiment, row.report.experiment);
  visit(kTrial, row.trial.name);
  visit(kRepeat, row.repeat.repeat);
  visit(Field{"rank", "", "rank whose GPU was sampled"}, row.rank);
}

std::optional<bool> is_throttled(const measure::GpuSample& sample) {
  if (!sample.throttle_reasons) return std::nullopt;
  return measure::is_throttled(*sample.throttle_reasons);
}

template <class Visitor>
void visit_columns(Visitor& visit, const GpuRow& row) {
  visit_place(visit, row);
  results::visit_gpu_sample(visit, row.sample);
  visit(Field{"throttled", "", "the sample has a throttle reason of power or heat", "the GPU does not tell reasons"},
        is_throttled(row.sample));
}

template <class Visitor>
void visit_columns(Visitor& visit, const ReasonRow& row) {
  visit_place(visit, row.gpu);
  visit(Field{"time_s", "s", "when the sample was taken, as in gpu.csv"}, row.gpu.sample.time_s);
  visit(Field{"reason", "", "a reason why the clocks were not at their highest, in nvidia-smi's words"}, row.reason);
}

// Calls `visit(row)` for every sample of the report.
template <class Visit>
void for_each_sample(const results::Report& report, Visit visit) {
  for (const results::TrialResult& trial : report.trials) {
    for (const results::RepeatResult& repeat : trial.repeats) {
      for (const results::GpuSeries& gpu : repeat.gpus) {
        for (const measure::GpuSample& sample : gpu.samples)
          visit(GpuRow{.report = report, .trial = trial, .repeat = repeat, .rank = gpu.rank, .sample = sample});
      }
    }
  }
}

GpuRow any_row(const results::Report& report) {
  static const results::TrialResult trial;
  static const results::RepeatResult repeat;
  static const measure::GpuSample sample;
  return {.report = report, .trial = trial, .repeat = repeat, .sample = sample};
}

}  // namespace

std::vector<Column> gpu_columns(const results::Report& report) { return columns_of(any_row(report)); }

std::string gpu_csv(const results::Report& report) {
  std::string lines;
  for_each_sample(report, [&lines](const GpuRow& row) { lines += value_line(row); });
  return lines.empty() ? "" : header_line(gpu_columns(report)) + lines;
}

std::vector<Column> gpu_throttle_columns(const results::Report& report) {
  return columns_of(ReasonRow{.gpu = any_row(report), .reason = {}});
}

std::string gpu_throttle_csv(const results::Report& report) {
  std::string lines;
  for_each_sample(report, [&lines](const GpuRow& row) {
    if (!row.sample.throttle_reasons) return;
    for (const std::string& reason : *row.sample.throttle_reasons)
      lines += value_line(ReasonRow{.gpu = row, .reason = reason});
  });
  return lines.empty() ? "" : header_line(gpu_throttle_columns(report)) + lines;
}

}  // namespace chexbench::report
