// In what two runs or trials are not alike, as far as their images/s depend on it.
#pragma once

#include <string>
#include <vector>

#include "report/compare.hpp"

namespace chexbench::report {

// The trial's spec as JSON without what does not change what is measured: the experiment's and the pipeline's name,
// where the data lie, how many repeats there were. The same text is the same arm.
std::string arm_key(const TrialResult& trial);

// Of two arms' specs, key by key, "pipeline[2].parallel_calls".
std::vector<Difference> spec_differences(const TrialResult& base, const TrialResult& other);

// Of the machines and libraries of all runs of two sides.
std::vector<Difference> environment_differences(const Side& base, const Side& other);

// Of what never keeps runs from being compared: host, kernel, version of chexbench.
std::vector<Difference> remarkable_differences(const Side& base, const Side& other);

// Of what the trials of one arm ran on: device, cores of a rank, where the data lie.
using Trials = std::vector<const TrialResult*>;
std::vector<Difference> place_differences(const Trials& base, const Trials& other);

// Of what an emulated engine's step times come from.
std::vector<Difference> source_differences(const Trials& base, const Trials& other);

}  // namespace chexbench::report
