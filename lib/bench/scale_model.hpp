// A scale model (emulation.cores_per_accelerator): accelerators with more cores than the ranks have here. All emulated
// parts are slowed down by the ratio of the two numbers of cores, and measured times are reported divided by it. The
// real pipeline decodes on all ranks, so amplification, shuffles, prefetches and starving are those of the full scale.
// It assumes that decoding takes the same share of the cores' time for any number of threads, and that files are read
// from memory or from a shaped store.
#pragma once

#include <optional>
#include <string>

#include "bench/rank_layout.hpp"
#include "comm/communicator.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

struct ScaleModel {
  double factor = 1;  // how many times slower than at full scale
  double cores = 0;   // of this machine, for each rank; below 1 if ranks take turns on one
};

// Returns the share of `host`'s cores of each rank in a trial with `ranks` ranks, for a limit of `cpu_limit` CPU
// seconds a second (infinity if there is none), and the resulting factor. A pure function.
// @throws SpecError if the factor is below 1
ScaleModel scale_model_of(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share, int ranks,
                          double cpu_limit);

// Returns the scale model of the spec on this machine, if it asks for one. Collective over the trial's ranks.
// @throws SpecError as above, or if the ranks have different shares of their hosts' cores; DeviceError if a rank was
// lost
std::optional<ScaleModel> agree_on_scale(const spec::TrialSpec& spec, const HostCores& host, const CoreShare& share,
                                         comm::Communicator& ranks);

// Returns "scale model, 1 : 80: ..." for the report: its measurements and assumptions.
std::string scale_note(const ScaleModel& scale, const spec::EmulationSpec& emulation);

// Converts the rate and the times of the measured window to full scale. CPU seconds are the cost of the work there. See
// results::TrialResult::scale_factor for the values that stay as measured.
void to_full_scale(results::RepeatResult& repeat, const ScaleModel& scale, const spec::EmulationSpec& emulation);

}  // namespace chexbench::bench
