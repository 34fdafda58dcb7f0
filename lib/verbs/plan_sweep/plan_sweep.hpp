// chexbench plan-sweep: cuDNN's convolution plans, timed on the GPU at hand.
#pragma once

#include <functional>
#include <string>

#include "engine/plan_sweep.hpp"

namespace chexbench::verbs {

using engine::PlanSweepOptions;

// One JSON object: network, precision, pattern, shape, engine, ran, workspace_bytes, median_us, tflops_per_s; the last
// two only where it ran.
std::string to_json_line(const engine::PlanTiming& timing);

// Gives each timing to `write_line` as soon as it is known. Returns whether all were timed within the budget.
// @throws as engine::sweep_plans()
bool plan_sweep(const PlanSweepOptions& options, const std::function<void(const std::string&)>& write_line);

}  // namespace chexbench::verbs
