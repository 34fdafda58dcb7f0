// Makes records with round numbers, so that tests can compute the expected values by hand.
#pragma once

#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "results/figures.hpp"
#include "results/record.hpp"
#include "spec/parse.hpp"

namespace chexbench::results {

// Returns a step of 100 ms: 40 wait, 5 upload, 30 compute (10 forward, 20 backward), 10 communication, 8 update, 7
// other.
inline measure::StepTimings make_timings() {
  return {.wall_s = 0.100,
          .wait_s = 0.040,
          .upload_s = 0.005,
          .compute_s = 0.030,
          .exposed_communication_s = 0.010,
          .update_s = 0.008,
          .other_s = 0.007,
          .forward_s = 0.010,
          .backward_s = 0.020,
          .communication_busy_s = 0.015,
          .end_s = 1000.25,
          .loss = 0.693,
          .images = 16};
}

// Returns a repeat with 2 steps of each rank, at `images_per_s`.
inline RepeatResult make_repeat(int repeat, int ranks, double images_per_s) {
  RepeatResult result{.repeat = repeat, .images_per_s = images_per_s, .wall_s = 0.2, .page_cache = "as_is"};
  result.images_trained = static_cast<std::uint64_t>(32 * ranks);
  result.images_decoded = result.images_trained;
  result.peak_rss_bytes = 500'000'000 + static_cast<std::uint64_t>(repeat);
  result.anonymous_rss_bytes = 300'000'000 - static_cast<std::uint64_t>(repeat);
  result.process_cpu_s = 0.125 * ranks;
  result.cpu_wait_s = 0.005 * ranks;
  result.bytes_read = 1000;
  result.storage_read_bytes = 1000;
  for (int rank = 0; rank < ranks; ++rank) {
    for (int step = 0; step < 2; ++step) {
      result.steps.push_back({.rank = rank, .step = step, .next_s = 0.041, .timings = make_timings()});
      for (int op = 0; op < 2; ++op)
        result.op_samples.push_back({.rank = rank, .step = step, .op_index = op, .elements_out = 16, .queue_depth = 3});
    }
    result.waits.push_back({.rank = rank, .op_index = 0, .op = "read", .wait_s = 0.008});
    result.waits.push_back({.rank = rank, .op_index = 1, .op = "map", .part = "decode", .wait_s = 0.062});
    result.waits.push_back({.rank = rank, .op_index = 1, .op = "map", .part = "other", .wait_s = 0.010});
  }
  result.ops = {{.op = "read", .elements_out = 32, .bytes_read = 1000},
                {.op = "map", .elements_out = 32, .images_decoded = 32, .busy_wall_s = 0.3, .decode_s = 0.25}};
  return result;
}

struct TrialOptions {
  std::string pipeline = "optimized";
  spec::DataFormat format = spec::DataFormat::images;
  int ranks = 1;
  std::string engine = "none";
};

// Returns a trial with one repeat for each throughput, named "optimized images ranks=1".
inline TrialResult make_trial(const TrialOptions& options, const std::vector<double>& images_per_s) {
  TrialResult trial;
  trial.name = options.pipeline + " " + to_string(options.format) + " ranks=" + std::to_string(options.ranks);
  trial.key = "key of " + trial.name;
  trial.spec = spec::parse_trial(R"({"data": {"root": "data/nih"}, "pipeline": ")" + options.pipeline + "\"}",
                                 "the spec of a test");
  trial.spec.data.format = options.format;
  trial.spec.engine = options.engine;
  trial.spec.ranks = options.ranks;
  trial.ranks = options.ranks;
  trial.emulated = options.engine.starts_with("emulated:");
  trial.engine_device = "a device";
  trial.engine_source = trial.emulated ? "a cited publication" : "";
  for (const double value : images_per_s) {
    trial.repeats.push_back(make_repeat(static_cast<int>(trial.repeats.size()), options.ranks, value));
  }
  return trial;
}

// Gives every step the same timings.
inline TrialResult with_steps(TrialResult trial, const measure::StepTimings& timings) {
  for (RepeatResult& repeat : trial.repeats) {
    for (StepRecord& step : repeat.steps) step.timings = timings;
  }
  return trial;
}

// Lets every step wait for `wait_share` of its time and compute for the rest.
inline void set_wait_share(TrialResult& trial, double wait_share) {
  trial =
      with_steps(std::move(trial), {.wall_s = 0.1, .wait_s = 0.1 * wait_share, .compute_s = 0.1 * (1 - wait_share)});
}

// Other processes take 30 % of the cores, and a hypervisor 4 %.
inline Disturbance make_disturbance() {
  return {.core_s = 2, .others_s = 0.6, .steal_s = 0.08, .own_cpu_s = 1.4, .own_wait_s = 0.6, .span_s = 1};
}

inline std::vector<const TrialResult*> pointers(const std::vector<TrialResult>& trials) {
  std::vector<const TrialResult*> all;
  for (const TrialResult& trial : trials) all.push_back(&trial);
  return all;
}

inline Report make_report(std::vector<TrialResult> trials) {
  Report report{.experiment = "naive-vs-optimized", .trials = std::move(trials)};
  report.environment = {.chexbench_version = "0.1.0",
                        .date_utc = "2026-11-21T06:00:00Z",
                        .host = "node1",
                        .cpu = "Some CPU @ 2.5 GHz, 2 sockets",
                        .cores = 2,
                        .memory_bytes = 16'000'000'000,
                        .kernel = "Linux 6.1.0",
                        .mpi = "MPICH 4.0.2",
                        .instruction_set = "avx2",
                        .command_line = {"chexbench", "--config", "spec with \"quotes\".json"}};
  return report;
}

inline Figures figures_of(const TrialResult& trial) { return analysis::derive_figures(trial, {trial}); }

}  // namespace chexbench::results
