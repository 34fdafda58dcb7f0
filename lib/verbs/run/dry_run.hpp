// Describes what a run would do, without doing it, for `--dry-run`.
#pragma once

#include <optional>
#include <string>

#include "bench/core_layout.hpp"
#include "bench/opened_datasets.hpp"
#include "comm/communicator.hpp"
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

}  // namespace chexbench::verbs
