#include "engine/cuda/plan_timer.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "engine/cuda/device.hpp"
#include "engine/cuda/sweep_items.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kWarmUpRuns = 3;  // the first loads the kernel
constexpr int kTimedRuns = 11;
// Twice the largest second-level cache (H100, H200: 50 to 60 MB): written before each run, so that no run finds its
// operands there, as none does in the middle of a step.
constexpr std::size_t kFlushBytes = 128u << 20;

// The memory that the plans of one request share.
class Bench {
 public:
  explicit Bench(const ConvPlans& plans) : flush_(kFlushBytes) {
    for (const Operand& operand : plans.operands()) {
      tensors_.emplace_back(operand.bytes);
      // 0x2c2c is 0.06 in fp16, 2.4e-12 in bf16 and in f32: finite, and not zero, which would spare the device power.
      tensors_.back().fill(0x2c);
      memory_.push_back({operand.id, tensors_.back().data()});
    }
  }

  double median_s(ConvPlans& plans, int index, std::int64_t workspace_bytes) {
    const DeviceMemory workspace(static_cast<std::size_t>(std::max<std::int64_t>(workspace_bytes, 1)));
    const auto run_s = [&] {
      flush_.fill(0);
      timer_.begin();
      plans.run(index, memory_, workspace.data());
      timer_.end();
      return timer_.elapsed_s();
    };
    for (int i = 0; i < kWarmUpRuns; ++i) run_s();
    std::vector<double> times_s(kTimedRuns);
    std::ranges::generate(times_s, run_s);
    std::ranges::nth_element(times_s, times_s.begin() + kTimedRuns / 2);
    return times_s[kTimedRuns / 2];
  }

 private:
  DeviceMemory flush_;
  std::vector<DeviceMemory> tensors_;
  std::vector<OperandMemory> memory_;
  DeviceTimer timer_;
};

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

// False where time ran out.
bool time_candidates(const PlanTarget& target, const SweepItem& item, double until_s, const OnTiming& on_timing) {
  std::optional<ConvPlans> offered = plans_for(target, item.request);
  if (!offered) {
    on_timing(timing_of(item));
    return true;
  }
  ConvPlans& plans = *offered;
  Bench bench(plans);
  for (int i = 0; i < plans.candidates(); ++i) {
    if (now_s() > until_s) return false;
    const Plan plan = plans.build(i);
    PlanTiming timing = timing_of(item);
    timing.engine = plan.engine;
    timing.workspace_bytes = plan.workspace_bytes;
    timing.ran = plan.state == PlanState::ready;
    if (timing.ran) {
      timing.median_s = bench.median_s(plans, i, plan.workspace_bytes);
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
