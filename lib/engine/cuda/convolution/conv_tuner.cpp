#include "engine/cuda/convolution/conv_tuner.hpp"

#include <fmt/format.h>

#include <limits>
#include <tuple>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"

namespace chexbench::engine::cuda {
namespace {

// Statistics are not a pattern of cuDNN's, so their timings have a key next to the key of the pattern that they
// follow.
std::string statistics_key(const PlanMachine& machine, const PlanRequest& request) {
  return plan_key(machine, request) + " | with statistics";
}

PlanRequest with(PlanRequest request, ConvPattern pattern) {
  request.pattern = pattern;
  return request;
}

CachedPlan to_keep(const TunedPlan& tuned, double seconds) {
  return {tuned.plan.engine, tuned.plan.workspace_bytes, seconds};
}

// Adds the seconds from its construction to its destruction to a sum, also if an exception ends the scope.
class AddTime {
 public:
  explicit AddTime(double& sum_s) : sum_s_(sum_s) {}
  ~AddTime() { sum_s_ += now_s() - begin_s_; }
  AddTime(const AddTime&) = delete;
  AddTime& operator=(const AddTime&) = delete;

 private:
  double& sum_s_;
  const double begin_s_ = now_s();
};

}  // namespace

TunedPlan ConvTuner::fastest(const PlanRequest& request) {
  TunedPlan tuned;
  tuned.candidates = device_.candidates(request);
  if (!take_cached(request, tuned)) {
    take_timed(request, tuned);
    drop_losers(request, tuned);
  }
  return tuned;
}

bool ConvTuner::take_cached(const PlanRequest& request, TunedPlan& tuned) {
  const CachedPlan* const known = cache_.find(plan_key(device_.machine, request));
  if (known == nullptr) return false;
  for (int i = 0; i < tuned.candidates->count(); ++i) {
    if (tuned.candidates->engine(i) != known->engine) continue;
    tuned.plan = tuned.candidates->build(i);
    if (tuned.plan.state != PlanState::ready) continue;
    tuned.index = i;
    tuned.seconds = known->seconds;
    ++counts_.cached;
    return true;
  }
  log::warning("cuDNN: the plan {} that was the fastest for {} is no longer available; timing again", known->engine,
               request.text());
  return false;
}

void ConvTuner::take_timed(const PlanRequest& request, TunedPlan& tuned) {
  count_timing();
  const AddTime timing(counts_.timing_s);
  ConvCandidates& candidates = *tuned.candidates;
  const std::unique_ptr<CandidateTimer> timer = candidates.timer();
  tuned.seconds = std::numeric_limits<double>::infinity();
  std::string reason;
  int timed = 0;
  for (int i = 0; i < candidates.count() && timed < kMostTimed; ++i) {
    const Plan plan = candidates.build(i);
    if (plan.state != PlanState::ready) {
      reason = plan.reason;
      continue;
    }
    try {
      const double seconds = timer->plan_s(i, plan);
      ++timed;
      if (std::tie(seconds, plan.workspace_bytes) >= std::tie(tuned.seconds, tuned.plan.workspace_bytes)) continue;
      tuned.index = i;
      tuned.plan = plan;
      tuned.seconds = seconds;
    } catch (const DeviceError& error) {
      reason = error.what();
    }
  }
  if (timed == 0) {
    throw DeviceError(fmt::format("cuDNN: none of its {} plans for {} runs on this GPU; the last one: {}",
                                  candidates.count(), request.text(), reason));
  }
  cache_.add(plan_key(device_.machine, request), to_keep(tuned, tuned.seconds));
}

// Makes the candidates anew and builds only the winner: plans stay built as long as their candidates, and those that
// were compiled at run time hold device memory.
void ConvTuner::drop_losers(const PlanRequest& request, TunedPlan& tuned) {
  auto fresh = device_.candidates(request);
  for (int i = 0; i < fresh->count(); ++i) {
    if (fresh->engine(i) != tuned.plan.engine) continue;
    const Plan plan = fresh->build(i);
    if (plan.state != PlanState::ready) continue;
    tuned.index = i;
    tuned.plan = plan;
    tuned.candidates = std::move(fresh);
    return;
  }
}

double ConvTuner::with_statistics_s(const PlanRequest& request, const TunedPlan& tuned) {
  const std::string key = statistics_key(device_.machine, request);
  if (const CachedPlan* known = cache_.find(key); known != nullptr && known->engine == tuned.plan.engine) {
    ++counts_.cached;
    return known->seconds;
  }
  count_timing();
  const AddTime timing(counts_.timing_s);
  const double seconds = tuned.candidates->timer()->plan_and_statistics_s(tuned.index, tuned.plan);
  cache_.add(key, to_keep(tuned, seconds));
  return seconds;
}

std::optional<TunedPlan> ConvTuner::forward_statistics(const PlanRequest& request, const TunedPlan& forward) {
  const PlanRequest fused_request = with(request, ConvPattern::forward_statistics);
  try {
    const double apart_s = with_statistics_s(request, forward);
    const CachedPlan* const known = cache_.find(statistics_key(device_.machine, fused_request));
    if (known != nullptr && known->seconds >= apart_s) {
      ++counts_.cached;
      return {};
    }
    TunedPlan fused = fastest(fused_request);
    if (with_statistics_s(fused_request, fused) < apart_s) return fused;
  } catch (const DeviceError& error) {
    count_missing(error);
  }
  return {};
}

double ConvTuner::own_pass_s(const PlanRequest& request, const TunedPlan& tuned, const char* name,
                             double (CandidateTimer::*time)()) {
  const std::string key = fmt::format("{} | {}", plan_key(device_.machine, request), name);
  if (const CachedPlan* known = cache_.find(key); known != nullptr) {
    ++counts_.cached;
    return known->seconds;
  }
  count_timing();
  const AddTime timing(counts_.timing_s);
  const double seconds = (*tuned.candidates->timer().*time)();
  cache_.add(key, {"own kernel", 0, seconds});
  return seconds;
}

std::optional<ProloguePlans> ConvTuner::prologue(const PlanRequest& request, const TunedPlan& forward,
                                                 bool forward_gives_sums, const TunedPlan& weight_gradient) {
  try {
    const PlanRequest apart = forward_gives_sums ? with(request, ConvPattern::forward_statistics) : request;
    const double apart_s = own_pass_s(request, forward, "norm before", &CandidateTimer::norm_s) +
                           with_statistics_s(apart, forward) + weight_gradient.seconds;
    const PlanRequest fused = with(request, ConvPattern::normalized_forward_statistics);
    ProloguePlans plans{.forward = fastest(fused),
                        .weight_gradient = fastest(with(request, ConvPattern::normalized_weight_gradient))};
    if (with_statistics_s(fused, plans.forward) + plans.weight_gradient.seconds < apart_s) return plans;
  } catch (const DeviceError& error) {
    count_missing(error);
  }
  return {};
}

std::optional<TunedPlan> ConvTuner::norm_before(const PlanRequest& request, const TunedPlan& data_gradient) {
  try {
    const double apart_s =
        data_gradient.seconds + own_pass_s(request, data_gradient, "norm sums", &CandidateTimer::norm_sums_s);
    TunedPlan fused = fastest(with(request, ConvPattern::data_gradient_norm));
    if (fused.seconds < apart_s) return fused;
  } catch (const DeviceError& error) {
    count_missing(error);
  }
  return {};
}

void ConvTuner::count_missing(const DeviceError& error) {
  if (counts_.without_fused++ == 0) counts_.fused_error = error.what();
}

void ConvTuner::count_timing() {
  if (counts_.timed++ == 0)
    log::info("timing convolutions on {}: what was not run there before takes seconds to minutes, once",
              device_.machine.device);
}

}  // namespace chexbench::engine::cuda
