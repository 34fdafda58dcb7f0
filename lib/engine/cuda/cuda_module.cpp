// Loads the module that needs CUDA: the program itself starts where no library of NVIDIA is.
#include "engine/module.hpp"
#include "engine/plan_sweep.hpp"

namespace chexbench::engine {

bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing) {
  using Sweep = bool(const PlanSweepOptions&, const std::function<void(const PlanTiming&)>&);
  auto* const sweep =
      reinterpret_cast<Sweep*>(module_symbol("plan-sweep", "libchexbench_cuda.so", "chexbench_sweep_plans"));
  return sweep(options, on_timing);
}

}  // namespace chexbench::engine
