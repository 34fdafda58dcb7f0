// The symbol of plan-sweep that cuda_module.cpp looks up in the module.
#include "engine/cuda/convolution/plan_sweep.hpp"

extern "C" bool chexbench_sweep_plans(const chexbench::engine::PlanSweepOptions& options,
                                      const std::function<void(const chexbench::engine::PlanTiming&)>& on_timing) {
  return chexbench::engine::cuda::sweep_plans(options, on_timing);
}
