#include "report/csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/epoch_waits.hpp"
#include "report/csv_row.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/fields.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"

namespace chexbench::report {
namespace {

// What a row of trials.csv is made from.
struct TrialRow {
  const results::Report& report;
  const results::TrialResult& trial;
  results::Figures figures;
};

// Sums a count over the trial's repeats.
template <class Count>
Count sum(const results::TrialResult& trial, Count results::RepeatResult::*count) {
  Count total = 0;
  for (const results::RepeatResult& repeat : trial.repeats) total += repeat.*count;
  return total;
}

// Returns std::nullopt if the run ended before the trial's first repeat.
template <class Value>
std::optional<Value> if_measured(const results::TrialResult& trial, Value value) {
  return trial.repeats.empty() ? std::nullopt : std::optional(value);
}

// Returns the states of the page cache in the repeats, each once: "cold; cold (not verified)".
std::string page_cache_states(const results::TrialResult& trial) {
  std::vector<std::string> states;
  for (const results::RepeatResult& repeat : trial.repeats) {
    if (std::find(states.begin(), states.end(), repeat.page_cache) == states.end()) states.push_back(repeat.page_cache);
  }
  return fmt::format("{}", fmt::join(states, "; "));
}

// Returns the share of the trial's files that was in the page cache, over its repeats, or std::nullopt if no file was
// checked.
std::optional<double> cached_share(const results::TrialResult& trial,
                                   std::uint64_t results::RepeatResult::*cached_bytes) {
  const auto of = static_cast<double>(sum(trial, &results::RepeatResult::looked_at_bytes));
  if (of == 0) return std::nullopt;
  return static_cast<double>(sum(trial, cached_bytes)) / of;
}

std::optional<double> start_to_first_batch_s(const results::TrialResult& trial) {
  for (const results::RepeatResult& repeat : trial.repeats) {
    if (repeat.start_to_first_batch_s > 0) return repeat.start_to_first_batch_s;
  }
  return std::nullopt;
}

// Visits the columns that the interface promises, in its order.
template <class Visitor>
void visit_promised_columns(Visitor&& visit, const TrialRow& row) {
  const auto& [report, trial, figures] = row;
  const auto& ci95 = figures.images_per_s_ci95;
  visit("experiment", report.experiment);
  visit("trial", trial.trial);
  visit("pipeline", trial.spec.pipeline.name);
  visit("format", to_string(trial.spec.data.format));
  visit("model", trial.spec.model.name);
  visit("engine", trial.spec.engine);
  visit("precision", to_string(trial.spec.training.precision));
  visit("ranks", trial.ranks);
  visit("batch_size", trial.spec.training.batch_size);
  visit("images_per_s", figures.images_per_s);
  visit("images_per_s_mad", figures.images_per_s_mad);
  visit("images_per_s_ci95_low", ci95 ? std::optional(ci95->low) : std::nullopt);
  visit("images_per_s_ci95_high", ci95 ? std::optional(ci95->high) : std::nullopt);
  visit("scaling_efficiency", figures.scaling_efficiency);
  visit("wait_share", figures.wait_share);
  visit("busy_share", figures.busy_share);
  visit("decoded_per_trained", figures.decoded_per_trained);
  visit("peak_rss_bytes", if_measured(trial, figures.peak_rss_bytes));
  visit("emulated", trial.emulated);
}

// Returns "map/decode 0.182; shuffle 0.021": shares of the steps' time.
std::string waits_text(const results::Figures& figures) {
  std::string text;
  for (const auto& [op, part, share] : figures.waits) {
    text += fmt::format("{}{}{}{} {:.3f}", text.empty() ? "" : "; ", op, part.empty() ? "" : "/", part, share);
  }
  return text;
}

// Visits the columns that were added later. New ones go to the end, so that column numbers stay valid.
template <class Visitor>
void visit_later_columns(Visitor&& visit, const TrialRow& row) {
  const auto& [report, trial, figures] = row;
  visit("upload_share", figures.upload_share);
  visit("compute_share", figures.compute_share);
  visit("exposed_communication_share", figures.exposed_communication_share);
  visit("update_share", figures.update_share);
  visit("other_share", figures.other_share);
  visit("au_share", figures.au_share);
  visit("images_per_s_per_core", figures.images_per_s_per_core);
  visit("cores_per_rank", trial.cores_per_rank);
  visit("oversubscribed", trial.oversubscribed);
  visit("unstable", trial.unstable);
  visit("buffer_fed", figures.buffer_fed);
  visit("partial", trial.partial);
  visit("anonymous_rss_bytes", if_measured(trial, figures.anonymous_rss_bytes));
  visit("repeats", trial.repeats.size());
  visit("steps", results::measured_steps(trial));
  visit("image_size", trial.spec.model.image_size);
  visit("decoder", to_string(trial.spec.data.decoder));
  visit("deliver", spec::to_string(trial.spec.data.deliver));
  visit("images_trained", if_measured(trial, sum(trial, &results::RepeatResult::images_trained)));
  visit("images_decoded", if_measured(trial, sum(trial, &results::RepeatResult::images_decoded)));
  visit("bad_records", if_measured(trial, sum(trial, &results::RepeatResult::bad_records)));
  visit("bytes_read", if_measured(trial, sum(trial, &results::RepeatResult::bytes_read)));
  visit("process_cpu_s", if_measured(trial, sum(trial, &results::RepeatResult::process_cpu_s)));
  visit("page_cache", page_cache_states(trial));
  visit("start_to_first_batch_s", start_to_first_batch_s(trial));
  visit("engine_device", trial.engine_device);
  visit("emulated_source", trial.emulated ? trial.engine_source : std::string());
  visit("notes", fmt::format("{}", fmt::join(trial.notes, "; ")));
  visit("host", report.environment.host);
  visit("cpu", report.environment.cpu);
  visit("date_utc", report.environment.date_utc);
  visit("key", trial.key);
  visit("instruction_set", report.environment.instruction_set);
  visit("wait_op", figures.wait_op);
  visit("wait_part", figures.wait_part);
  results::visit_gpu_window(visit, figures.gpu);
  visit("limit", figures.limit);
  visit("waits", waits_text(figures));
  visit("cores_busy_share", figures.cores_busy_share);
  visit("cpu_wait_share", figures.cpu_wait_share);
  const auto& auroc_ci95 = figures.mean_auroc_ci95;
  visit("epochs", trial.spec.training.epochs);
  visit("mean_auroc", figures.mean_auroc);
  visit("mean_auroc_ci95_low", auroc_ci95 ? std::optional(auroc_ci95->low) : std::nullopt);
  visit("mean_auroc_ci95_high", auroc_ci95 ? std::optional(auroc_ci95->high) : std::nullopt);
  visit("best_epoch", figures.best_epoch);
  visit("time_to_auroc_s", figures.time_to_auroc_s);
  visit("data_root", trial.spec.data.root);
  visit("store_shape", results::store_words(trial.spec.data.store.shape));
  visit("cached_share_before", cached_share(trial, &results::RepeatResult::cached_bytes_before));
  visit("cached_share_after", cached_share(trial, &results::RepeatResult::cached_bytes_after));
  visit("disturbed_repeats", std::ranges::count_if(trial.repeats, [](const results::RepeatResult& repeat) {
          return results::is_disturbed(repeat);
        }));
  const std::optional<analysis::EpochWaits> waits = analysis::epoch_waits(trial);
  visit("steady_wait_share", waits ? waits->steady_wait_share : std::nullopt);
  visit("scale_factor", trial.scale_factor);
  const auto& efficiency_ci95 = figures.scaling_efficiency_ci95;
  visit("scaling_efficiency_ci95_low", efficiency_ci95 ? std::optional(efficiency_ci95->low) : std::nullopt);
  visit("scaling_efficiency_ci95_high", efficiency_ci95 ? std::optional(efficiency_ci95->high) : std::nullopt);
  visit("speedup", figures.speedup);
  visit("epoch_s", figures.epoch_s);
  visit("images_per_joule", figures.images_per_joule);
  visit("step_time_computed", trial.emulated ? std::optional(trial.step_time_computed) : std::nullopt);
}

// Visits a column for each key of the spec in which trials of the run differ, by its dotted name. They come last,
// because their number differs between runs.
template <class Visitor>
void visit_swept_columns(Visitor&& visit, const TrialRow& row, const std::vector<std::string>& swept) {
  for (const std::string& key : swept) visit(key.c_str(), setting_of(row.trial.spec, key));
}

template <class Visitor>
std::string trial_line(const TrialRow& row, const std::vector<std::string>& swept, Visitor add) {
  CsvRow line;
  const auto visit = [&](const char* name, const auto& value) { add(line, name, value); };
  visit_promised_columns(visit, row);
  visit_later_columns(visit, row);
  visit_swept_columns(visit, row, swept);
  return std::move(line).line();
}

constexpr auto kAddName = [](CsvRow& row, const char* name, const auto&) { row(name); };
constexpr auto kAddValue = [](CsvRow& row, const char*, const auto& value) { row(value); };

}  // namespace

std::string trials_csv(const results::Report& report) {
  const results::TrialResult any;
  const std::vector<std::string> swept = swept_keys(report.trials);
  std::string text = trial_line({.report = report, .trial = any, .figures = {}}, swept, kAddName);
  for (const results::TrialResult& trial : report.trials) {
    text += trial_line({.report = report, .trial = trial, .figures = analysis::derive_figures(trial, report.trials)},
                       swept, kAddValue);
  }
  return text;
}

}  // namespace chexbench::report
