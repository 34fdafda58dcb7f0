#include "engine/cuda/convolution/plan_timer.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "engine/cuda/convolution/plan_bench.hpp"
#include "engine/cuda/convolution/sweep_items.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace chexbench::engine::cuda {
namespace {

PlanTiming timing_of(const SweepItem& item) {
  return {.network = item.network,
          .precision = item.request.precision,
          .pattern = to_string(item.request.pattern),
          .shape = item.request.shape.text()};
}

using OnTiming = std::function<void(const PlanTiming&)>;

std::optional<ConvPlans> plans_for(const PlanTarget& target, const PlanRequest& request) {
  try {
    return ConvPlans(target, request);
  } catch (const DeviceError& error) {
    log::warning("{}", error.what());
    return {};
  }
}

// Returns false if the time ran out.
bool time_candidates(const PlanTarget& target, const SweepItem& item, double until_s, const OnTiming& on_timing) {
  std::optional<ConvPlans> offered = plans_for(target, item.request);
  if (!offered) {
    on_timing(timing_of(item));
    return true;
  }
  ConvPlans& plans = *offered;
  PlanBench bench(plans.operands());
  for (int i = 0; i < plans.candidates(); ++i) {
    if (now_s() > until_s) return false;
    const Plan plan = plans.build(i);
    PlanTiming timing = timing_of(item);
    timing.engine = plan.engine;
    timing.workspace_bytes = plan.workspace_bytes;
    timing.ran = plan.state == PlanState::ready;
    if (timing.ran) {
      timing.median_s = bench.median_s(plan.workspace_bytes,
                                       [&](void* workspace) { plans.run(i, bench.memory(), workspace, nullptr); });
      timing.flops_per_s = item.request.shape.flops() / timing.median_s;
    }
    on_timing(timing);
  }
  return true;
}

}  // namespace

bool sweep_plans(const PlanSweepOptions& options, const OnTiming& on_timing) {
  const std::vector<SweepItem> items = sweep_items(options);
  require_device();
  const PlanTarget target = PlanTarget::present_device();
  const double until_s = now_s() + options.budget_s;
  return std::ranges::all_of(items, [&](const SweepItem& item) {
    return now_s() <= until_s && time_candidates(target, item, until_s, on_timing);
  });
}

}  // namespace chexbench::engine::cuda
