// Describes what a run would do, without doing it, for `--dry-run`.
#pragma once

#include <optional>
#include <string>

#include "bench/core_layout.hpp"
#include "bench/opened_datasets.hpp"
#include "comm/communicator.hpp"
#include "dataset/dataset.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Opens the data sets of a planned report, which must outlive it. If the plan is for a world of `ranks` that was not
// started, they are taken to be on this host, and data sets need not be there.
class DryRun {
 public:
  // Collective over the world. @throws DeviceError if a rank was lost
  DryRun(const results::Report& report, comm::World& world, std::optional<int> ranks = {});

  // Returns text for people: the resolved spec of the first trial, and of each other trial what it has otherwise;
  // forecasts of the memory of a rank and of its GPU, held against what is allowed, or why there is none; and what is
  // left out. Builds no engine.
  // @throws DataError as dataset::open_dataset(), unless the plan is for a world that was not started
  // @throws SpecError as dataset::open_dataset() and memory_text()
  // @throws DeviceError if an engine cannot compute a network
  std::string describe_plan();

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

// The forecast of a trial's memory, as `--dry-run` prints it.

// Returns the bytes that engine onednn takes to train the trial's network, about: weights, gradients and the
// optimizer's state, activations and their gradients of a batch. 0 for other engines.
double training_bytes(const spec::TrialSpec& trial);

// Returns the bytes that this process may take: the memory of the machine, or what its control group leaves of that.
double allowed_bytes();

// Returns a table of what a rank holds in host memory, and what its GPU does, and says if that is more than is allowed.
// `process` are the bytes of anonymous memory that the process has with the trial's data set open.
// @throws SpecError as pipeline::forecast_memory() and engine::forecast_device_memory()
// @throws DeviceError if an engine cannot compute the network
std::string memory_text(const results::TrialResult& trial, const dataset::Dataset& dataset,
                        const bench::HostCores& host, double process);

}  // namespace chexbench::verbs
