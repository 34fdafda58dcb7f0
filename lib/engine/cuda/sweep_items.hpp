// The convolutions whose plans are worth timing.
#pragma once

#include <string>
#include <vector>

#include "engine/cuda/conv_plans.hpp"
#include "engine/plan_sweep.hpp"

namespace chexbench::engine::cuda {

// A request, and the network that it comes from.
struct SweepItem {
  std::string network;
  PlanRequest request;
};

// What a sweep asks for, in its order: plain patterns of everything first, as fused ones are judged against them.
// @throws SpecError for an unknown network
std::vector<SweepItem> sweep_items(const PlanSweepOptions& options);

}  // namespace chexbench::engine::cuda
