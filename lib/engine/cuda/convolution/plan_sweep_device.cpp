#include "engine/cuda/convolution/plan_sweep.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/convolution/plan_bench.hpp"
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
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    log::warning("{}", error.what());
    return {};
  }
}

// Sets the results of running the plan. A plan that does not run stays without times, and the sweep goes on.
void time_plan(ConvPlans& plans, int index, const SweepItem& item, PlanBench& bench, PlanTiming& timing) {
  try {
    timing.median_s = bench.median_s(timing.workspace_bytes,
                                     [&](void* workspace) { plans.run(index, bench.memory(), workspace, nullptr); });
    timing.flops_per_s = item.request.shape.flops() / timing.median_s;
    timing.ran = true;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    timing.reason = error.what();
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
    timing.reason = plan.reason;
    if (plan.state == PlanState::ready) time_plan(plans, i, item, bench, timing);
    on_timing(timing);
  }
  return true;
}

}  // namespace

bool sweep_plans(const PlanSweepOptions& options, const OnTiming& on_timing) {
  std::vector<SweepItem> items = sweep_items(options);
  require_device();
  const std::int64_t limit_bytes = workspace_limit_bytes(current_device().memory_bytes);
  for (SweepItem& item : items) item.request.workspace_limit_bytes = limit_bytes;
  const PlanTarget target = PlanTarget::present_device();
  const double until_s = now_s() + options.budget_s;
  return std::ranges::all_of(items, [&](const SweepItem& item) {
    return now_s() <= until_s && time_candidates(target, item, until_s, on_timing);
  });
}

}  // namespace chexbench::engine::cuda
