// Lists the convolutions whose plans are worth timing.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/convolution/conv_plans.hpp"
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

}  // namespace chexbench::engine::cuda
