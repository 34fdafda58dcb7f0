#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/epoch_waits.hpp"
#include "analysis/learning.hpp"
#include "report/csv_rows.hpp"
#include "report/swept_keys.hpp"
#include "results/disturbance.hpp"
#include "results/figures.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"

namespace chexbench::report {
namespace {

using results::Field;

// Why a figure is empty.
constexpr const char* kNotReached = "the run ended before the trial";
constexpr const char* kNoRepeats = "fewer than two repeats have a mean AUROC";
constexpr const char* kNoAuroc = "it did not train over epochs, or no label has an AUROC";
const char* no_interval() {
  static const std::string kClause = fmt::format("{} count", spec::kTooFewRepeats);
  return kClause.c_str();
}
const char* no_scaling_interval() {
  static const std::string kClause = fmt::format("scaling_efficiency is, on one rank, or where {}", no_interval());
  return kClause.c_str();
}

// What a row of trials.csv is made from.
struct TrialRow {
  const results::Report& report;
  const results::TrialResult& trial;
  const results::Figures& figures;
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

// Returns `value`, which describes the trial's input, or std::nullopt if its batches are ready-made.
template <class Value>
std::optional<Value> of_input(const results::TrialResult& trial, Value value) {
  return spec::uses_pipeline(trial.spec) ? std::optional(std::move(value)) : std::nullopt;
}

// Returns the state of the page cache in the repeats; "mixed" if it was not the same in all of them.
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

// Adds the columns that keep their places, in the order that the interface promises.
void add_promised(CsvTable& table, const TrialRow& row) {
  const results::Figures& figures = row.figures;
  add_arm(table, row.report, row.trial);
  table(
      Field{"images_per_s", "images/s", "images that all ranks train on in a second: median over repeats", kNotReached},
      figures.images_per_s);
  table(Field{"images_per_s_mad", "images/s", "median absolute deviation of the repeats' images/s, unscaled",
              "there are fewer than two repeats"},
        figures.images_per_s_mad);
  table(Field{"images_per_s_ci95", "images/s", "95 % interval of images_per_s, by bootstrap", no_interval()},
        figures.images_per_s_ci95);
  table(Field{"scaling_efficiency", "1", "images/s at N ranks / (N x images/s at 1 rank with the same settings)",
              "the same settings were not measured at 1 rank with as many cores of its own"},
        figures.scaling_efficiency);
  table(Field{"wait_share", "1", "share of the steps' wall time that they waited for their batch", kNotReached},
        figures.wait_share);
  table(Field{"busy_share", "1", "(upload + compute + update) / wall time of the steps", kNotReached},
        figures.busy_share);
  table(Field{"decoded_per_trained", "1", "images decoded / images trained on; 1 is ideal",
              "the input is synthetic, or the run ended before the trial"},
        figures.decoded_per_trained);
  table(Field{"peak_rss_bytes", "bytes", "peak memory of the largest rank", kNotReached},
        if_measured(row.trial, figures.peak_rss_bytes));
  table(kEmulated, row.trial.emulated);
}

// Adds what limits the trial, and rates that follow from its images/s.
void add_verdict(CsvTable& table, const results::Figures& figures) {
  table(Field{"limit", "",
              "what bounds images/s: slow_rank, machine, sample, cpu, input, communication, upload or compute",
              "nothing but the input can, as with engine none, or the run ended before the trial"},
        std::string(results::to_string(figures.limit)));
  table(
      Field{"wait_op", "", "op that most of the waits are attributed to; waits.csv has all", "wait_share is below 2 %"},
      figures.wait_op);
  table(Field{"wait_part", "", "part of that op: read, parse, decode, resize or other",
              "wait_op is, or the op has no parts"},
        figures.wait_part);
  table(Field{"speedup", "1", "images/s at N ranks / images/s at 1 rank with the same settings",
              "the same settings were not measured at 1 rank"},
        figures.speedup);
  table(
      Field{"scaling_efficiency_ci95", "1", "95 % interval of scaling_efficiency, by bootstrap", no_scaling_interval()},
      figures.scaling_efficiency_ci95);
  table(Field{"images_per_s_per_core", "images/s", "images_per_s / cores of all ranks",
              "ranks share cores, or the run ended before the trial"},
        figures.images_per_s_per_core);
  table(Field{"epoch_s", "s", "time of one pass over the split's images at images_per_s",
              "there is no data set, or the run ended before the trial"},
        figures.epoch_s);
  table(Field{"images_per_joule", "images/J", "images_per_s / power of all GPUs alone", "no GPU told its power"},
        figures.images_per_joule);
}

// Adds where the time went.
void add_shares(CsvTable& table, const TrialRow& row) {
  const results::Figures& figures = row.figures;
  table(Field{"upload_share", "1", "share of the steps' wall time: copying batches to the device", kNotReached},
        figures.upload_share);
  table(Field{"compute_share", "1", "share of the steps' wall time: forward and backward", kNotReached},
        figures.compute_share);
  table(Field{"exposed_communication_share", "1",
              "share of the steps' wall time: averaging of gradients that backward does not hide", kNotReached},
        figures.exposed_communication_share);
  table(Field{"update_share", "1", "share of the steps' wall time: updating the weights", kNotReached},
        figures.update_share);
  table(Field{"other_share", "1", "share of the steps' wall time: all that is none of the other parts", kNotReached},
        figures.other_share);
  const std::optional<analysis::EpochWaits> waits = analysis::epoch_waits(row.trial);
  table(Field{"steady_wait_share", "1", "wait_share of the steps that begin no epoch",
              "the steps hold no start of an epoch, and no shuffle of decoded images"},
        waits ? waits->steady_wait_share : std::nullopt);
  table(Field{"au_share", "1", "MLPerf Storage's accelerator utilization: (compute + update) / wall time",
              "the engine is not emulated"},
        figures.au_share);
  table(Field{"cores_busy_share", "1", "CPU time of the ranks / time of their cores",
              "ranks share cores, or the run ended before the trial"},
        figures.cores_busy_share);
  table(Field{"cpu_wait_share", "1", "time of ready threads without a core / time of the ranks' cores; may exceed 1",
              "it is a scale model, or the run ended before the trial"},
        figures.cpu_wait_share);
}

// Adds what tells how far the figures can be trusted.
void add_flags(CsvTable& table, const TrialRow& row) {
  const auto& [report, trial, figures] = row;
  table(Field{"repeats", "repeats", "repeats that were measured"}, trial.repeats.size());
  table(Field{"steps", "steps", "measured steps of one rank in a repeat, of a training over epochs in its first one"},
        results::measured_steps(trial));
  table(
      Field{
          "disturbed_repeats", "repeats",
          "repeats in which other processes used over 10 % of the ranks' cores or time, or cores left their CPU mask"},
      std::ranges::count_if(trial.repeats,
                            [](const results::RepeatResult& repeat) { return results::is_disturbed(repeat); }));
  table(Field{"unstable", "", "the repeats differ too much for a reliable median"}, trial.unstable);
  table(Field{"partial", "", "fewer repeats or steps than requested were measured"}, trial.partial);
  table(Field{"oversubscribed", "", "ranks share cores"}, trial.oversubscribed);
  table(Field{"buffer_fed", "", "more than 5 % of the images trained came from buffers that were filled before"},
        figures.buffer_fed);
  table(Field{"scale_factor", "1", "how many times slower than full scale a scale model was measured; 1 if it is none"},
        trial.scale_factor);
}

// Adds the input: what it is, where it lies and what was read of it. Counts are sums over repeats.
void add_input(CsvTable& table, const TrialRow& row) {
  const auto& [report, trial, figures] = row;
  const spec::StoreShape shape = of_input(trial, trial.spec.data.store.shape).value_or(spec::StoreShape{});
  table(Field{"image_size", "pixels", "side of the images that the network gets"}, trial.spec.model.image_size);
  table(Field{"decoder", "", "decoder of the images", "the batches are ready-made"},
        of_input(trial, to_string(trial.spec.data.decoder)));
  table(Field{"color", "", "what images are decoded to: gray or rgb", "the batches are ready-made"},
        of_input(trial, to_string(spec::color_of(trial.spec.data))));
  table(Field{"deliver", "", "type of the pixels that the engine gets"}, spec::to_string(trial.spec.data.deliver));
  table(kCoresPerRank, trial.cores_per_rank);
  table(Field{"data_root", "", "folder or URL of the data set", "there is none"},
        of_input(trial, trial.spec.data.root));
  table(Field{"store_bandwidth_mb_per_s", "MB/s", "speed that reading was slowed down to, for each rank", "it was not"},
        shape.bandwidth_mb_per_s);
  table(Field{"store_latency_ms", "ms", "latency that was added to each request", "none was"}, shape.latency_ms);
  table(Field{"store_jitter_ms", "ms", "mean of the random latency that was added to each request", "none was"},
        shape.jitter_ms);
  table(Field{"store_requests_per_s", "requests/s", "requests of a rank that could begin in a second",
              "any number could"},
        shape.iops);
  table(Field{"page_cache", "", "state of the page cache before the repeats; mixed if they differ (repeats.csv)",
              kNotReached},
        page_cache_state(trial));
  table(Field{"cached_share_before", "1", "share of the trial's files in the page cache before a repeat",
              "no file was looked at"},
        cached_share(trial, &results::RepeatResult::cached_bytes_before));
  table(Field{"cached_share_after", "1", "share of the trial's files in the page cache after a repeat",
              "no file was looked at"},
        cached_share(trial, &results::RepeatResult::cached_bytes_after));
  table(Field{"images_trained", "images", "images that all ranks trained on", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::images_trained)));
  table(Field{"images_decoded", "images", "images that all ranks decoded", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::images_decoded)));
  table(Field{"bad_records", "records", "images or records that could not be read and were skipped", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::bad_records)));
  table(Field{"bytes_read", "bytes", "read by the ops of all ranks, hits of the page cache included", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::bytes_read)));
  table(Field{"process_cpu_s", "s", "CPU time of all ranks in the measured steps", kNotReached},
        if_measured(trial, sum(trial, &results::RepeatResult::process_cpu_s)));
  table(
      Field{"anonymous_rss_bytes", "bytes", "largest anonymous memory after a step, of the largest rank", kNotReached},
      if_measured(trial, figures.anonymous_rss_bytes));
  table(Field{"start_to_first_batch_s", "s", "from the start of the process of rank 0 to its first batch",
              "another trial came first"},
        start_to_first_batch_s(trial));
}

// Adds what a training over epochs learned.
void add_learning(CsvTable& table, const TrialRow& row) {
  const results::Figures& figures = row.figures;
  table(Field{"epochs", "epochs", "epochs of the training; 0 if it counts steps"}, row.trial.spec.training.epochs);
  table(Field{"mean_auroc", "1", "mean AUROC over labels, at the best epoch", kNoAuroc}, figures.mean_auroc);
  table(Field{"mean_auroc_ci95", "1", "95 % interval of mean_auroc over patients, by bootstrap", kNoAuroc},
        figures.mean_auroc_ci95);
  const std::optional<analysis::AurocSpread> spread = analysis::auroc_spread(row.trial);
  const auto of_repeats = [&spread](auto member) {
    return spread ? std::optional(std::invoke(member, *spread)) : std::nullopt;
  };
  table(Field{"mean_auroc_best", "1", "mean AUROC of the best repeat, at its best epoch", kNoRepeats},
        of_repeats(&analysis::AurocSpread::best));
  table(Field{"mean_auroc_worst", "1", "the same of the worst repeat", kNoRepeats},
        of_repeats(&analysis::AurocSpread::worst));
  table(Field{"mean_auroc_deviation", "1", "standard deviation of the repeats' mean AUROCs", kNoRepeats},
        of_repeats(&analysis::AurocSpread::deviation));
  table(Field{"best_repeat", "", "number of the best repeat, from 0", kNoRepeats},
        of_repeats(&analysis::AurocSpread::best_repeat));
  constexpr const char* kNoClasses = "it did not train exclusive classes over epochs";
  table(Field{"top1", "1", "share of images whose class has the highest score, at the best epoch", kNoClasses},
        figures.top1);
  table(Field{"top1_ci95", "1", "95 % interval of top1 over patients, by bootstrap", kNoClasses}, figures.top1_ci95);
  table(Field{"top5", "1", "share of images whose class has one of the five highest scores, at the best epoch",
              kNoClasses},
        figures.top5);
  table(Field{"best_epoch", "", "number of the epoch with the highest mean AUROC or top1",
              "it did not train over epochs"},
        figures.best_epoch);
  table(Field{"time_to_auroc_s", "s", "time until training.target_auroc was reached: median over repeats",
              "there is no target, or a repeat did not reach it"},
        figures.time_to_auroc_s);
}

// Adds the machine and what identifies the trial.
void add_machine(CsvTable& table, const TrialRow& row) {
  const results::TrialResult& trial = row.trial;
  const results::Environment& environment = row.report.environment;
  table(Field{"engine_device", "", "device that the engine computed on", kNotReached}, trial.engine_device);
  table(Field{"emulated_source", "", "where the step times of an emulated engine come from", "it is not emulated"},
        trial.emulated ? trial.engine_source : std::string());
  table(Field{"step_time_computed", "", "no source gives these step times: a roofline computed them",
              "the engine is not emulated"},
        trial.emulated ? std::optional(trial.step_time_computed) : std::nullopt);
  table(Field{"host", "", "name of the host of rank 0"}, environment.host);
  table(Field{"cpu", "", "model of its CPU", "the kernel does not tell"}, environment.cpu);
  table(Field{"cpu_kind", "", "its generation, such as Cascade Lake", "it is not a generation that servers have"},
        environment.cpu_kind);
  table(Field{"instruction_set", "", "instructions that preprocessing uses: baseline, avx2 or avx512"},
        environment.instruction_set);
  table(Field{"date_utc", "", "when the run began, as ISO 8601"}, environment.date_utc);
  table(Field{"key", "", "hash of the resolved trial: equal keys are the same trial"}, trial.key);
}

void add_row(CsvTable& table, const TrialRow& row) {
  add_promised(table, row);
  add_verdict(table, row.figures);
  add_shares(table, row);
  add_flags(table, row);
  add_input(table, row);
  add_learning(table, row);
  results::visit_fields(table, row.figures.gpu);
  add_machine(table, row);
}

}  // namespace

void add_trials(CsvTable& table, const analysis::Evaluation& evaluation) {
  const results::Report& report = evaluation.report;
  const std::vector<std::string> swept = swept_keys(report.trials);
  for (std::size_t i = 0; i < report.trials.size(); ++i) {
    const results::TrialResult& trial = report.trials[i];
    add_row(table, {.report = report, .trial = trial, .figures = evaluation.figures[i]});
    for (const std::string& key : swept) table.add_cell(setting_of(trial.spec, key));
    table.end_row();
  }
}

}  // namespace chexbench::report
