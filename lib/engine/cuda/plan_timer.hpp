// engine/plan_sweep.hpp, on the device.
#pragma once

#include "engine/plan_sweep.hpp"

namespace chexbench::engine::cuda {

bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

}  // namespace chexbench::engine::cuda
