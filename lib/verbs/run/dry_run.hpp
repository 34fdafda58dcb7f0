// Describes what a run would do, without doing it, for `--dry-run`.
#pragma once

#include <optional>
#include <string>

#include "bench/rank_layout.hpp"
#include "bench/trial_data.hpp"
#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Opens the data sets of a planned report, which must outlive it. If the plan is for a world of `ranks` that was not
// started, they are assumed to be on this host, and data sets may be missing.
class DryRun {
 public:
  // Collective over the world. @throws DeviceError if a rank was lost
  DryRun(const results::Report& report, comm::World& world, std::optional<int> ranks = {});

  // What a run would do, as text for people.
  struct Plan {
    std::string summary;   // memory of a rank at most, the trials' names, and omissions: a line each
    std::string problems;  // a line for each trial that needs more memory than is allowed
    std::string details;   // the resolved spec of the first trial, the differences of each other trial, and forecasts
                           // of the memory of a rank and its GPU by what takes it
  };
  // Builds no engine.
  // @throws DataError as dataset::open_dataset(), unless the plan is for a world that was not started
  // @throws SpecError as dataset::open_dataset(), pipeline::forecast_memory() and engine::forecast_device_memory()
  // @throws DeviceError if an engine cannot compute a network
  Plan describe_plan();

  // Returns a forecast of the time. Decodes a few images of each data set, for up to 5 s in all, and trains each
  // network of engine onednn that fits into memory for two steps, for about 10 s in all, because a step is not
  // interrupted; it builds no other engine.
  std::string describe_time();

 private:
  const results::Report& report_;
  bool may_lack_data_;
  bench::HostCores host_;
  bench::OpenedDatasets datasets_;
};

// Returns about how many bytes engine onednn takes to train the trial's network: weights, gradients and the optimizer's
// state, activations and their gradients of a batch. 0 for other engines.
double training_bytes(const spec::TrialSpec& trial);

// Returns the bytes that this process may take: the memory of the machine, or the limit of its control group.
double allowed_bytes();

}  // namespace chexbench::verbs
