// Implements engine/sweeps.hpp on the device; the module's symbol calls it.
#pragma once

#include <limits>

#include "engine/sweeps.hpp"

namespace chexbench::engine::cuda {

// Times every candidate of every convolution and calls `on_timing` for each. A request for which cuDNN offers nothing
// is logged and reported with `ran` false. Returns false if the time ran out before the end.
// @throws DeviceError if there is no GPU or it fails, SpecError for an unknown network
bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

// Limits of the search for the fastest plans of a network's convolutions.

// How many candidates of a request are timed at most. cuDNN's heuristics put the promising ones first, and PyTorch's
// benchmark of cuDNN's plans tries the same number.
inline constexpr int kMostTimed = 10;

// Plans that are chosen among fewer candidates than usual are not kept in the cache.
struct TuningLimits {
  int candidates = kMostTimed;  // of a request that are timed; at least 1
  // After so many seconds of timing, a request takes the first plan that runs, and only fused plans that are in the
  // cache.
  double seconds = std::numeric_limits<double>::infinity();
  bool forces_fused = false;  // takes a fused plan wherever one runs, however slow: for tests of its results
};

}  // namespace chexbench::engine::cuda
