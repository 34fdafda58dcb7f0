// Lists the differences of two runs or trials that affect their images/s.
#pragma once

#include <string>
#include <vector>

#include "verbs/compare/compare.hpp"

namespace chexbench::verbs {

// Returns the trial's spec as JSON without the settings that do not affect the measurement: the names of the experiment
// and the pipeline, the root of the data, and the limits on the repeats. It also leaves out cores_per_rank, which
// place_differences() compares by the cores that the ranks got. Trials with the same text are the same arm.
std::string arm_key(const results::TrialResult& trial);

// Compares the specs of two arms key by key: "pipeline[2].parallel_calls".
std::vector<Difference> spec_differences(const results::TrialResult& base, const results::TrialResult& other);

// Compares the machines and libraries of all runs of the two sides.
std::vector<Difference> environment_differences(const Side& base, const Side& other);

// Compares the fields that never prevent a comparison: the host, the kernel and the version of chexbench.
std::vector<Difference> remarkable_differences(const Side& base, const Side& other);

using Trials = std::vector<const results::TrialResult*>;
// Compares the platforms of one arm's trials: the device, the cores of a rank, and the root of the data.
std::vector<Difference> place_differences(const Trials& base, const Trials& other);

// Compares the sources of an emulated engine's step times.
std::vector<Difference> source_differences(const Trials& base, const Trials& other);

}  // namespace chexbench::verbs
