// Measures the repeats of trials that take turns on one engine, and stores their results: in the report, in the journal
// and next to a training's checkpoints.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/journal.hpp"
#include "bench/merge_ranks.hpp"
#include "bench/progress.hpp"
#include "bench/protocol.hpp"
#include "bench/rank_layout.hpp"
#include "bench/scale_model.hpp"
#include "bench/second_job/second_job.hpp"
#include "bench/trial.hpp"
#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// An arm of the running group.
struct RunningArm {
  results::TrialResult& trial;
  spec::TrialSpec run;  // the trial's spec, slowed down in a scale model
  const dataset::Dataset& dataset;
  const std::optional<ScaleModel>& scale;
  std::size_t number = 0;  // of the trial in the report, from 1
  double share = 1;        // of measure.max_total_seconds, for all trials up to those of its group
  bool finished = false;
  std::optional<std::vector<results::OpTuning>> tunings;  // the values for "auto", once known
  std::optional<RankRecording> recording;                 // of the last measured repeat, if the trial is traced
};

class RepeatRunner {
 public:
  // All arguments must outlive it. `ranks` are those of the whole world, and `rank_cores` their cores.
  // @throws OutputError if rank 0 cannot open the journal
  RepeatRunner(results::Report& report, comm::Communicator& ranks, const std::vector<RankCores>& rank_cores,
               const HostCores& host, const RunOptions& options);

  // Takes the repeat from an earlier run or measures it, and decides whether the arm is finished. Collective over the
  // group; only rank 0 keeps the result.
  // @throws all errors of run_trials() while measuring
  void run(RunningArm& arm, int repeat, const TrialContext& context);

 private:
  // Takes a repeat finished by an earlier run. Collective over the group.
  bool take_known(RunningArm& arm, const TrialContext& context);
  // Collective over the group.
  void measure(RunningArm& arm, TrialContext context);
  // Merges the ranks' measurements of the repeat that began at `begin_s`, and stores them next to the training's
  // checkpoints.
  static void merge(RunningArm& arm, const TrialContext& context, const results::RepeatResult& mine, double begin_s);
  // Returns the values for the arm's "auto": from the journal, or else found now. Collective.
  const std::vector<results::OpTuning>& tune(RunningArm& arm, const TrialContext& context) const;
  void run_traced(RunningArm& arm, const TrialContext& context) const;
  // Starts the second job of the arm on one rank of each host, and waits until it is ready; null on other ranks, and if
  // the arm has none.
  std::unique_ptr<SecondJob> start_second_job(const RunningArm& arm, comm::Communicator& members) const;
  void warn_of_gpus(const results::RepeatResult& result);
  void warn_of_others(const results::RepeatResult& result);
  void warn_of_mask(const results::RepeatResult& result);

  const results::Report& report_;
  const RunOptions& options_;
  const std::vector<RankCores>& rank_cores_;
  const HostCores& host_;
  const std::size_t rank_;       // in the world
  const std::vector<int> cpus_;  // that this process may be bound to
  Progress progress_;
  std::optional<Journal> journal_;      // only on rank 0
  std::set<std::string> gpu_problems_;  // already logged
  bool warned_of_others_ = false;
};

}  // namespace chexbench::bench
