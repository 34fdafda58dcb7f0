// Steps from the JSON files of TraceML, and of DLIO, the benchmark under MLPerf Storage.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verbs/diagnose/foreign/streamed_json.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

// The final_summary.json of TraceML. It has means over the steps common to all ranks: a mean step of each rank, with
// its wait.
class TraceMlSummary {
 public:
  void value(const Place& place, const Scalar& value);
  void closed(const Place& place);
  // Also recognizes the output of `traceml compare`, which finish() refuses.
  bool recognized() const { return schema_ && (is_summary_ || !compared_.empty()); }
  // @throws DataError if its version has other keys, it has no steps, or it compares two runs
  StepLog finish(const std::string& name) const;

 private:
  struct Means {
    std::optional<double> wait_ms;
    std::optional<double> step_ms;
  };

  std::optional<double> schema_;
  bool is_summary_ = false;
  std::string compared_;  // the first summary of a comparison
  std::map<int, Means> ranks_;
  std::size_t steps_ = 0;
};

// The output of DLIO. RANK_output.json has the wait (load) and the total time (proc) of each step of a rank.
// summary.json has the accelerators' utilization and the samples/s of each epoch. per_epoch_stats.json has no waits and
// is refused.
class DlioOutput {
 public:
  void value(const Place& place, const Scalar& value);
  bool recognized() const { return !blocks_.empty() || is_summary_ || is_epoch_stats_; }
  // @throws DataError if it has no steps, or is the file without waits
  StepLog finish(const std::string& name) const;

 private:
  // A continuous part of an epoch; a checkpoint ends it.
  struct Block {
    std::vector<double> load_s;
    std::vector<double> step_s;
  };
  void take_step(const Place& place, const Scalar& value);
  void take_summary(const Place& place, const Scalar& value);
  StepLog steps(const std::string& name) const;
  StepLog epochs(const std::string& name) const;

  std::map<std::pair<int, int>, Block> blocks_;  // by epoch and number
  std::size_t kept_ = 0;
  bool is_summary_ = false;
  bool is_epoch_stats_ = false;
  std::vector<double> utilization_percent_;  // of each epoch
  std::vector<double> samples_per_s_;
  double files_ = 0;
  double samples_per_file_ = 0;
};

}  // namespace chexbench::verbs::foreign
