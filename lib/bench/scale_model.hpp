// A scale model (emulation.cores_per_accelerator): accelerators with more cores than the ranks have here. Everything
// that is emulated becomes slower by the factor by which a rank's cores are fewer, and what was measured is reported as
// if it had taken that much less time. The real pipeline decodes on all ranks, so amplification, shuffles, prefetches
// and starving are those of the full scale. It assumes that decoding takes its share of the cores' time, whatever
// number of threads does it, and that files are read from memory or from a shaped store.
#pragma once

#include <optional>
#include <string>

#include "bench/core_layout.hpp"
#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

struct ScaleModel {
  double factor = 1;  // how many times slower than at full scale
  double cores = 0;   // of this machine, for each rank; below 1 if ranks take turns on one
};

// Returns how much of `host`'s cores each rank of a trial of `ranks` ranks has, for a limit of `cpu_limit` CPU seconds
// a second (infinity if there is none), and the factor that follows. A pure function.
// @throws SpecError if the factor is below 1
ScaleModel scale_model_of(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share, int ranks,
                          double cpu_limit);

// Returns the scale model that the spec asks for on this machine, if it asks for one. Collective over the trial's
// ranks.
// @throws SpecError as above, or if the ranks have different shares of their hosts' cores; DeviceError if a rank was
// lost
std::optional<ScaleModel> agree_on_scale(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share,
                                         comm::Communicator& ranks);

// Returns "scale model, 1 : 80: ..." for the report: what it measured and what it assumes.
std::string scale_note(const ScaleModel& scale, const spec::EmulationSpec& emulation);

// Turns the rate and the times of the measured window into those of the full scale. CPU seconds remain what the work
// costs there. results::TrialResult::scale_factor says what stays as measured.
void to_full_scale(results::RepeatResult& repeat, const ScaleModel& scale, const spec::EmulationSpec& emulation);

}  // namespace chexbench::bench
