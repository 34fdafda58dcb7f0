#include "core/errors.hpp"
#include "engine/plan_sweep.hpp"

namespace chexbench::engine {

bool sweep_plans(const PlanSweepOptions&, const std::function<void(const PlanTiming&)>&) {
  throw DeviceError(
      "plan-sweep: this build has no cuDNN; install the CUDA toolkit and cuDNN 9, run scripts/setup --cuda, and build "
      "again");
}

}  // namespace chexbench::engine
