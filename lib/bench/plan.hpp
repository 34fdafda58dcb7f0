// Plans a run: resolves the trials of a sweep for this machine and checks them before anything is measured, and groups
// those that share an engine. Also describes the hosts and the libraries of a run.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/journal.hpp"
#include "bench/rank_layout.hpp"
#include "bench/scale_model.hpp"
#include "comm/communicator.hpp"
#include "core/reducer.hpp"
#include "engine/engine.hpp"
#include "measure/machine.hpp"
#include "results/record.hpp"
#include "spec/sweep.hpp"

namespace chexbench::bench {

// Returns a report that contains every trial, without repeats, and the description of this machine (its GPUs on rank 0
// only). In each trial's spec `ranks` 0 is resolved to the size of the world, and engine `auto` to an engine of this
// machine. If several trials are planned, those whose engine's profile lacks their network are left out, each with a
// finding left_out. `ranks` plans for a world of that size instead of the actual one. Not collective.
// @throws SpecError if a trial asks for more ranks than were started or more servers than ranks, names an unknown
// network, engine or profile, or none of the trials' profiles includes their network
// @throws DeviceError if this build has no engine for `auto` or `onednn`, or an engine cannot compute a trial's network
results::Report plan_report(const std::string& experiment, const std::vector<spec::Trial>& trials, comm::World& world,
                            std::optional<int> ranks = {});

// Gives the trials of `planned` the keys of the older version that began them, if the `known` repeats of the run use
// those. Such a run keeps them to its end, so that its journal and checkpoints stay consistent.
void keep_known_keys(results::Report& planned, int world, const RepeatKeys& known);

// Trials that differ only in their input. One engine serves them all, and because they take turns, temporary noise on
// the machine affects them equally.
struct ArmGroup {
  int ranks = 1;
  std::vector<std::size_t> arms;  // indices into the report's trials, ascending
};

// Groups the trials that have the same engine, model, training, communication, delivered batches, ranks and cores. The
// groups are in the order of their first trials. A pure function.
std::vector<ArmGroup> group_arms(const std::vector<results::TrialResult>& trials);

// Describes in a trial's result what it runs on: engine, cores, scale model and GPU.

void describe_engine(results::TrialResult& trial, const engine::EngineTraits& traits, const CoreShare& share);
// Must come after describe_engine(), whose cores it replaces.
void describe_scale(results::TrialResult& trial, const ScaleModel& scale);
void describe_gpus(results::TrialResult& trial, const GpuShare& share, const Reducer& reducer);

// Describes this host, given as `machine`, with the state of its CPUs, its network and current load. Takes
// milliseconds.
results::HostState describe_host(const measure::Machine& machine);

// Returns describe_host() of every host, in the order of ranks, with the striping of the trials' data. Only the rank
// with `first_of_host` on each host asks, which runs a program where the data are on a parallel file system.
// Collective over the world.
// @throws DeviceError if a rank was lost
// @throws SpecError as measure::probe_machine()
std::vector<results::HostState> gather_hosts(comm::World& world, bool first_of_host,
                                             const std::vector<results::TrialResult>& trials);

// Returns the libraries of the ranks, the engines and the decoders, with the versions of those loaded by this process
// so far. Call it after the trials, because engines and decoders load theirs on first use.
std::vector<measure::LibraryVersion> loaded_libraries(const comm::World& world);

}  // namespace chexbench::bench
