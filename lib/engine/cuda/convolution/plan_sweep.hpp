// Times the plans of all convolutions of some networks: chexbench dev plan-sweep. Implements engine/sweeps.hpp; the
// module's symbol calls it.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/sweeps.hpp"

namespace chexbench::engine::cuda {

// A request, and the network that it comes from.
struct SweepItem {
  std::string network;
  PlanRequest request;
};

// Returns the requests of a sweep in its order: first all plain patterns, because the fused ones are compared with
// them. Images are 224 x 224.
// @throws SpecError for an unknown network, DeviceError for one that the engine cannot compute
std::vector<SweepItem> sweep_items(const PlanSweepOptions& options);

// Times every candidate of every convolution and calls `on_timing` for each. A request for which cuDNN offers nothing
// is logged and reported with `ran` false. Returns false if the time ran out before the end.
// @throws DeviceError if there is no GPU or it fails, SpecError for an unknown network
bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

}  // namespace chexbench::engine::cuda
