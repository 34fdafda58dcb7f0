// Steps from the output of DLIO, the benchmark under MLPerf Storage.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verbs/diagnose/foreign/json_walk.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs::foreign {

// RANK_output.json has the wait (load) and the total time (proc) of each step of a rank. summary.json has the
// accelerators' utilization and the samples/s of each epoch. per_epoch_stats.json has no waits and is refused.
class DlioOutput : public Visitor {
 public:
  void value(const Place& place, const Scalar& value) override;
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
