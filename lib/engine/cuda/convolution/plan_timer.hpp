// Does what engine/plan_sweep.hpp declares, on the device; the symbol of the module calls it.
#pragma once

#include "engine/plan_sweep.hpp"

namespace chexbench::engine::cuda {

// Times every candidate of every convolution and calls `on_timing` for each. A request for which cuDNN offers nothing
// is logged and reported with `ran` false. Returns false if the time ran out before the end.
// @throws DeviceError if there is no GPU or it fails, SpecError for an unknown network
bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

}  // namespace chexbench::engine::cuda
