// Describes what a run would do, without doing it, for `--dry-run`.
#pragma once

#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Returns text for people: the resolved spec of the first trial of a planned report, and of each other trial what it
// has otherwise; forecasts of the memory of a rank's buffers and of its GPU, and of the time; and what is left out.
// Opens the data sets. Rank 0 decodes a few images of each, for up to 5 s in all, and trains each network of engine
// onednn for two steps, for about 10 s in all, as a step is not interrupted; it builds no other engine. If the plan is
// for a world of `ranks` that was not started, they are taken to be on this host, and data sets need not be there: the
// text then says why there is no forecast. Collective over the world.
// @throws DataError as dataset::open_dataset(), unless `ranks` is given
// @throws SpecError as dataset::open_dataset(), pipeline::forecast_memory() and engine::forecast_device_memory()
// @throws DeviceError if a rank was lost, or an engine cannot compute a network
std::string describe_plan(const results::Report& report, comm::World& world, std::optional<int> ranks = {});

}  // namespace chexbench::verbs
