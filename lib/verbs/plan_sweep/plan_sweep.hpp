// Times cuDNN's convolution plans on a GPU of this machine, for `chexbench dev plan-sweep`.
#pragma once

#include <functional>
#include <string>

#include "engine/sweeps.hpp"

namespace chexbench::verbs {

using engine::PlanSweepOptions;

// Returns one line with one JSON object: network, precision, pattern, shape, engine, ran, workspace_bytes, and, if the
// plan ran, median_us and tflops_per_s.
std::string to_json_line(const engine::PlanTiming& timing);

// Times the plans and passes each timing as a line to `write_line` as soon as it is ready. Returns whether all plans
// were timed within the budget.
// @throws SpecError, DeviceError as engine::sweep_plans()
bool plan_sweep(const PlanSweepOptions& options, const std::function<void(const std::string&)>& write_line);

}  // namespace chexbench::verbs
