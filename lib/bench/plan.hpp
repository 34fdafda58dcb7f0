// Plans a run: resolves the trials of a sweep for this machine and checks them before anything is measured.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "spec/sweep.hpp"

namespace chexbench::bench {

// Returns a report that contains every trial, without repeats, and the description of this machine (its GPUs on rank 0
// only). In each trial's spec `ranks` 0 is resolved to the size of the world, and engine `auto` to an engine of this
// machine. Not collective.
// @throws SpecError if a trial asks for more ranks than were started or more servers than ranks, names an unknown
// network or engine, or its profile is unknown or lacks the network
// @throws DeviceError if this build has no engine for `auto` or `onednn`, or an engine cannot compute a trial's network
results::Report plan_report(const std::string& experiment, const std::vector<spec::Trial>& trials, comm::World& world);

}  // namespace chexbench::bench
