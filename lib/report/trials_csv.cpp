#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/epoch_waits.hpp"
#include "analysis/learning.hpp"
#include "report/csv.hpp"
#include "report/swept_keys.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using results::Field;
using results::kNotReached;

constexpr const char* kNoRepeats = "fewer than two repeats have one";

// The sources of a row of trials.csv.
struct TrialRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::Figures& figures;
  std::set<std::string_view> added;  // names of figures
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

// Adds the figures for which `takes(name)` holds, and notes them.
template <class Takes>
void add_figures_if(CsvTable& table, TrialRow& row, Takes takes) {
  visit_fields(
      [&]<class Name, class Value>(const Name& field, const Value& value) {
        if constexpr (std::is_same_v<Name, Field>) {  // lists have rows in separate files
          if (!takes(field.name) || !row.added.insert(field.name).second) return;
          if constexpr (std::is_same_v<Value, std::uint64_t>)
            table(field, if_measured(row.trial, value));
          else
            table(field, value);
        }
      },
      row.figures);
}

void add_figures(CsvTable& table, TrialRow& row, std::initializer_list<std::string_view> names) {
  for (const std::string_view wanted : names)
    add_figures_if(table, row, [wanted](std::string_view name) { return name == wanted; });
}

// Returns `value`, which describes the trial's input, or std::nullopt if its batches are ready-made.
template <class Value>
std::optional<Value> of_input(const results::TrialResult& trial, Value value) {
  return spec::uses_pipeline(trial.spec) ? std::optional(std::move(value)) : std::nullopt;
}

// Returns the state of the page cache in the repeats, or "mixed" if it differed.
std::string page_cache_state(const results::TrialResult& trial) {
  if (trial.repeats.empty()) return "";
  const std::string& first = trial.repeats.front().page_cache;
  const auto has_it = [&first](const results::RepeatResult& repeat) { return repeat.page_cache == first; };
  return std::ranges::all_of(trial.repeats, has_it) ? first : "mixed";
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

// Adds the columns that keep their places, in the promised order.
void add_promised(CsvTable& table, TrialRow& row) {
  add_arm(table, row.report, row.trial);
  add_figures(table, row,
              {"images_per_s", "images_per_s_mad", "images_per_s_ci95", "scaling_efficiency", "wait_share",
               "busy_share", "decoded_per_trained", "peak_rss_bytes"});
  table(kEmulated, row.trial.emulated);
}

// Adds the limit of the trial, and rates derived from its images/s.
void add_verdict(CsvTable& table, TrialRow& row) {
  add_figures(table, row,
              {"limit", "wait_op", "wait_part", "speedup", "scaling_efficiency_ci95", "images_per_s_per_core",
               "epoch_s", "images_per_joule"});
}

// Adds the breakdown of the time.
void add_shares(CsvTable& table, TrialRow& row) {
  add_figures(table, row,
              {"upload_share", "compute_share", "exposed_communication_share", "update_share", "other_share"});
  const std::optional<analysis::EpochWaits> waits = analysis::epoch_waits(row.trial);
  table(Field{"steady_wait_share", "1", "wait_share of the steps that begin no epoch",
              "no step starts an epoch, and no decoded images are shuffled"},
        waits ? waits->steady_wait_share : std::nullopt);
  add_figures(table, row, {"au_share", "cores_busy_share", "cpu_wait_share"});
}

// Adds indicators of how far the figures can be trusted.
void add_flags(CsvTable& table, TrialRow& row) {
  const results::TrialResult& trial = row.trial;
  table(Field{"repeats", "repeats", "repeats that were measured"}, trial.repeats.size());
  table(Field{"steps", "steps", "measured steps of one rank in a repeat; over epochs, in the first repeat"},
        results::measured_steps(trial));
  table(Field{"disturbed_repeats", "repeats", "disturbed repeats, as in repeats.csv"},
        std::ranges::count_if(trial.repeats,
                              [](const results::RepeatResult& repeat) { return results::is_disturbed(repeat); }));
  table(Field{"unstable", "", "the repeats differ too much for a reliable median"}, trial.unstable);
  table(Field{"partial", "", "fewer repeats or steps than requested were measured"}, trial.partial);
  table(Field{"oversubscribed", "", "ranks share cores"}, trial.oversubscribed);
  add_figures(table, row, {"buffer_fed"});
  table(Field{"scale_factor", "1", "slowdown of a scale model against full scale; 1 without one"}, trial.scale_factor);
}

// Adds the input: its kind, its place and the amounts read. Counts are sums over repeats.
void add_input(CsvTable& table, TrialRow& row) {
  const results::TrialResult& trial = row.trial;
  const spec::StoreShape shape = of_input(trial, trial.spec.data.store.shape).value_or(spec::StoreShape{});
  table(Field{"image_size", "pixels", "side of the network's images"}, trial.spec.model.image_size);
  table(Field{"decoder", "", "decoder of the images", "the batches are ready-made"},
        of_input(trial, to_string(trial.spec.data.decoder)));
  table(Field{"color", "", "decoded to gray or rgb", "the batches are ready-made"},
        of_input(trial, to_string(spec::color_of(trial.spec.data))));
  table(Field{"deliver", "", "pixel type that the engine gets"}, spec::to_string(trial.spec.data.deliver));
  table(kCoresPerRank, trial.cores_per_rank);
  table(Field{"data_root", "", "folder or URL of the data set", "there is none"},
        of_input(trial, trial.spec.data.root));
  table(Field{"store_bandwidth_mb_per_s", "MB/s", "limit on the reads of each rank", "there was none"},
        shape.bandwidth_mb_per_s);
  table(Field{"store_latency_ms", "ms", "latency added to each request", "there was none"}, shape.latency_ms);
  table(Field{"store_jitter_ms", "ms", "mean of the random latency added to each request", "there was none"},
        shape.jitter_ms);
  table(Field{"store_requests_per_s", "requests/s", "limit on the requests of each rank", "there was none"},
        shape.iops);
  table(Field{"page_cache", "", "page_cache of the repeats, or mixed if they differ", kNotReached},
        page_cache_state(trial));
  table(Field{"cached_share_before", "1", "share of looked_at_bytes in the page cache: before a repeat",
              "no file was looked at"},
        cached_share(trial, &results::RepeatResult::cached_bytes_before));
  table(Field{"cached_share_after", "1", "share of looked_at_bytes in the page cache: after a repeat",
              "no file was looked at"},
        cached_share(trial, &results::RepeatResult::cached_bytes_after));
  table(Field{"images_trained", "images", "images that all ranks trained on", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::images_trained)));
  table(Field{"images_decoded", "images", "images that all ranks decoded", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::images_decoded)));
  table(Field{"bad_records", "records", "unreadable images or records, which were skipped", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::bad_records)));
  table(Field{"bytes_read", "bytes", "read by the ops of all ranks, also from the page cache", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::bytes_read)));
  table(Field{"process_cpu_s", "s", "CPU time of all ranks in the measured steps", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::process_cpu_s)));
  add_figures(table, row, {"anonymous_rss_bytes"});
  table(Field{"start_to_first_batch_s", "s", "from the start of rank 0's process to its first batch",
              "another trial came first"},
        start_to_first_batch_s(trial));
}

// Adds the results of a training over epochs.
void add_learning(CsvTable& table, TrialRow& row) {
  table(Field{"epochs", "epochs", "epochs of the training; 0 if it counts steps"}, row.trial.spec.training.epochs);
  add_figures(table, row, {"mean_auroc", "mean_auroc_ci95"});
  const std::optional<analysis::AurocSpread> spread = analysis::auroc_spread(row.trial);
  const auto of_repeats = [&spread](auto member) {
    return spread ? std::optional(std::invoke(member, *spread)) : std::nullopt;
  };
  table(Field{"mean_auroc_best", "1", "the best repeat's mean AUROC, at its best epoch", kNoRepeats},
        of_repeats(&analysis::AurocSpread::best));
  table(Field{"mean_auroc_worst", "1", "the same of the worst repeat", kNoRepeats},
        of_repeats(&analysis::AurocSpread::worst));
  table(Field{"mean_auroc_deviation", "1", "sample standard deviation of the repeats' mean AUROCs", kNoRepeats},
        of_repeats(&analysis::AurocSpread::deviation));
  table(Field{"best_repeat", "", "number of the best repeat, from 0", kNoRepeats},
        of_repeats(&analysis::AurocSpread::best_repeat));
  add_figures(table, row, {"top1", "top1_ci95", "top5", "best_epoch", "time_to_auroc_s"});
}

// Adds the machine and the identity of the trial.
void add_machine(CsvTable& table, TrialRow& row) {
  const results::TrialResult& trial = row.trial;
  const results::Environment& environment = row.report.environment;
  table(Field{"engine_device", "", "device that the engine computed on", kNotReached}, trial.engine_device);
  table(Field{"emulated_source", "", "source of the step times of an emulated engine", "the engine is not emulated"},
        trial.emulated ? trial.engine_source : std::string());
  table(Field{"step_time_computed", "", "a roofline computed these step times: no source gives them",
              "the engine is not emulated"},
        trial.emulated ? std::optional(trial.step_time_computed) : std::nullopt);
  table(Field{"host", "", "name of the host of rank 0"}, environment.host);
  table(Field{"cpu", "", "model of its CPU", "the kernel does not report it"}, environment.cpu);
  table(Field{"cpu_kind", "", "its generation, such as Cascade Lake", "it is not a known server CPU"},
        environment.cpu_kind);
  table(Field{"instruction_set", "", "used by preprocessing: baseline, avx2 or avx512"}, environment.instruction_set);
  table(Field{"date_utc", "", "when the run began, as ISO 8601"}, environment.date_utc);
  table(Field{"key", "", "hash of the resolved trial: equal keys are the same trial"}, trial.key);
}

void add_row(CsvTable& table, TrialRow& row) {
  add_promised(table, row);
  add_verdict(table, row);
  add_shares(table, row);
  add_flags(table, row);
  add_input(table, row);
  add_learning(table, row);
  add_figures_if(table, row, [](std::string_view) { return true; });  // those not added above
  add_machine(table, row);
}

}  // namespace

void add_trials(CsvTable& table, const analysis::Evaluation& evaluation) {
  const results::Report& report = evaluation.report;
  const std::vector<std::string> swept = swept_keys(report.trials);
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const results::TrialResult& trial = report.trials[i];
    TrialRow row{.report = report, .trial = trial, .figures = evaluation.figures[i], .added = {}};
    add_row(table, row);
    for (const std::string& key : swept) table.add_cell(setting_of(trial.spec, key));
    table.end_row();
  }
}

}  // namespace chexbench::report
