// Describes what a run would do, without doing it, for `--dry-run`.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "results/record.hpp"

namespace chexbench::verbs {

// Returns text for people: each trial of a planned report with its resolved spec, and a forecast of the memory of a
// rank's buffers and of its GPU. Opens the data sets, but builds no engine and decodes nothing. Collective over the
// world.
// @throws DataError, SpecError as dataset::open_dataset(), pipeline::forecast_memory() and
// engine::forecast_device_memory()
// @throws DeviceError if a rank was lost, or an engine cannot compute a network
std::string describe_plan(const results::Report& report, comm::World& world);

}  // namespace chexbench::verbs
