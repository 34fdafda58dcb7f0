#include "engine/cuda/convolution/conv_tuner.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"

namespace chexbench::engine::cuda {
namespace {

// Statistics are not a pattern of cuDNN's, so their timings' key is derived from the key of the pattern that they
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
  if (!take_cached(request, tuned)) take_timed(request, tuned);
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
  std::unique_ptr<CandidateTimer> timer = candidates.timer();
  CandidateChoice choice(sample_tolerance(request.precision));
  std::string reason;
  const int most = is_late() ? 1 : limits_.candidates;
  for (int i = 0; i < candidates.count() && choice.count() < most; ++i) {
    throw_if_interrupted();
    if (const std::string why = try_candidate(request, candidates, *timer, i, choice); !why.empty()) reason = why;
  }
  if (choice.count() == 0) {
    throw DeviceError(fmt::format("cuDNN: none of its {} plans for {} runs on this GPU; the last one: {}",
                                  candidates.count(), request.text(), reason));
  }
  for (const std::string& engine : choice.outsiders())
    log::warning("cuDNN: the results of its plan {} for {} differ from those of most plans", engine, request.text());
  const CandidateChoice::Candidate& best = choice.best();
  tuned.plan = best.plan;
  tuned.seconds = best.run.seconds;
  timer.reset();  // before the plans that it timed are freed
  tuned.index = candidates.keep_only(best.index);
  if (most < kMostTimed) {
    ++counts_.hurried;
    return;
  }
  cache_.add(plan_key(device_.machine, request), to_keep(tuned, tuned.seconds));
}

std::string ConvTuner::try_candidate(const PlanRequest& request, ConvCandidates& candidates, CandidateTimer& timer,
                                     int index, CandidateChoice& choice) {
  const Plan plan = candidates.build(index);
  if (plan.state != PlanState::ready) return plan.reason;
  try {
    return choice.add(index, plan, timer.run_plan(index, plan, kHopeless * choice.least_s()));
  } catch (const DeviceLostError& error) {
    throw DeviceLostError(
        fmt::format("cuDNN: the plan {} for {} breaks the device: {}", plan.engine, request.text(), error.what()));
  } catch (const DeviceError& error) {
    return error.what();
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

// Calls compare(), which may find that a fused plan does not run.
template <typename Compare>
auto ConvTuner::if_it_runs(const PlanRequest& fused, const Compare& compare) -> decltype(compare()) {
  const bool is_known = cache_.find(plan_key(device_.machine, fused)) != nullptr;
  if (is_late() && !is_known && !limits_.forces_fused) return {};
  try {
    return compare();
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    if (counts_.without_fused++ == 0) counts_.fused_error = error.what();
    return {};
  }
}

std::optional<TunedPlan> ConvTuner::forward_statistics(const PlanRequest& request, const TunedPlan& forward) {
  const PlanRequest fused_request = with(request, ConvPattern::forward_statistics);
  return if_it_runs(fused_request, [&]() -> std::optional<TunedPlan> {
    const double apart_s = apart_limit_s([&] { return with_statistics_s(request, forward); });
    const CachedPlan* const known = cache_.find(statistics_key(device_.machine, fused_request));
    if (known != nullptr && known->seconds >= apart_s) {
      ++counts_.cached;
      return {};
    }
    TunedPlan fused = fastest(fused_request);
    if (with_statistics_s(fused_request, fused) < apart_s) return fused;
    return {};
  });
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
  const PlanRequest fused = with(request, ConvPattern::normalized_forward_statistics);
  return if_it_runs(fused, [&]() -> std::optional<ProloguePlans> {
    const double apart_s = apart_limit_s([&] {
      return norm_apart_s({.request = request,
                           .forward = &forward,
                           .gives_sums = forward_gives_sums,
                           .weight_gradient = &weight_gradient});
    });
    ProloguePlans plans{.forward = fastest(fused),
                        .weight_gradient = fastest(with(request, ConvPattern::normalized_weight_gradient))};
    if (norm_within_s(request, forward, plans) < apart_s) return plans;
    return {};
  });
}

double ConvTuner::norm_apart_s(const ChosenPlans& plans) {
  const PlanRequest& request = plans.request;
  const PlanRequest forward = plans.gives_sums ? with(request, ConvPattern::forward_statistics) : request;
  return own_pass_s(request, *plans.forward, "norm before", &CandidateTimer::norm_s) +
         with_statistics_s(forward, *plans.forward) + plans.weight_gradient->seconds;
}

double ConvTuner::norm_within_s(const PlanRequest& request, const TunedPlan& forward, const ProloguePlans& plans) {
  return own_pass_s(request, forward, "affine", &CandidateTimer::affine_s) +
         with_statistics_s(with(request, ConvPattern::normalized_forward_statistics), plans.forward) +
         plans.weight_gradient.seconds;
}

double ConvTuner::norm_sums_s(const PlanRequest& request, const TunedPlan& data_gradient) {
  return own_pass_s(request, data_gradient, "norm sums", &CandidateTimer::norm_sums_s);
}

double ConvTuner::join_apart_s(const PlanRequest& request, const TunedPlan& data_gradient) {
  return data_gradient.seconds + own_pass_s(request, data_gradient, "join sums", &CandidateTimer::join_sums_s);
}

std::optional<TunedPlan> ConvTuner::faster(const PlanRequest& fused, double apart_s) {
  TunedPlan plan = fastest(fused);
  if (plan.seconds < apart_s) return plan;
  return {};
}

std::optional<TunedPlan> ConvTuner::norm_before(const PlanRequest& request, const TunedPlan& data_gradient) {
  const PlanRequest fused = with(request, ConvPattern::data_gradient_norm);
  return if_it_runs(fused, [&] {
    return faster(fused, apart_limit_s([&] { return data_gradient.seconds + norm_sums_s(request, data_gradient); }));
  });
}

std::optional<TunedPlan> ConvTuner::join(const PlanRequest& request, const TunedPlan& data_gradient) {
  const PlanRequest fused = with(request, ConvPattern::data_gradient_join);
  return if_it_runs(fused,
                    [&] { return faster(fused, apart_limit_s([&] { return join_apart_s(request, data_gradient); })); });
}

std::optional<TunedPlan> ConvTuner::join_norms(const PlanRequest& request, const TunedPlan& data_gradient,
                                               const std::optional<TunedPlan>& join) {
  const PlanRequest fused = with(request, ConvPattern::data_gradient_join_norms);
  return if_it_runs(fused, [&] {
    const double apart_s = apart_limit_s([&] {
      return (join ? join->seconds : join_apart_s(request, data_gradient)) + norm_sums_s(request, data_gradient);
    });
    return faster(fused, apart_s);
  });
}

double ConvTuner::with_norm_s(const ChosenPlans& plans) {
  const double forward_s =
      plans.prologue != nullptr ? norm_within_s(plans.request, *plans.forward, *plans.prologue) : norm_apart_s(plans);
  const TunedPlan& data_gradient = *plans.data_gradient;
  const PlanRequest request = with(plans.request, ConvPattern::data_gradient);
  if (plans.data_gradient_norm == nullptr)
    return forward_s + data_gradient.seconds + norm_sums_s(request, data_gradient);
  return forward_s + plans.data_gradient_norm->seconds;
}

bool ConvTuner::packs(const ChosenPlans& in_block, const ChosenPlans& packed) {
  return if_it_runs(with(packed.request, ConvPattern::normalized_forward_statistics), [&] {
    if (limits_.forces_fused) return true;
    return with_norm_s(packed) + own_pass_s(in_block.request, *in_block.forward, "copy", &CandidateTimer::copy_s) <
           with_norm_s(in_block);
  });
}

double ConvTuner::joined_apart_s(const PlanRequest& request, const TunedPlan& forward, bool forward_gives_sums) {
  const PlanRequest apart = forward_gives_sums ? with(request, ConvPattern::forward_statistics) : request;
  return own_pass_s(request, forward, "join before", &CandidateTimer::join_s) + with_statistics_s(apart, forward);
}

std::optional<TunedPlan> ConvTuner::faster_forward(const PlanRequest& fused, int norms, const PlanRequest& request,
                                                   const TunedPlan& forward, double apart_s) {
  TunedPlan plan = fastest(fused);
  const double affine_s = own_pass_s(request, forward, "affine", &CandidateTimer::affine_s);
  if (with_statistics_s(fused, plan) + norms * affine_s < apart_s) return plan;
  return {};
}

std::optional<TunedPlan> ConvTuner::joined_forward(const PlanRequest& request, const TunedPlan& forward,
                                                   bool forward_gives_sums) {
  const PlanRequest fused = with(request, ConvPattern::joined_forward_statistics);
  return if_it_runs(fused, [&] {
    const double apart_s = apart_limit_s([&] { return joined_apart_s(request, forward, forward_gives_sums); });
    return faster_forward(fused, 1, request, forward, apart_s);
  });
}

std::optional<TunedPlan> ConvTuner::joined_norms_forward(const PlanRequest& request, const TunedPlan& forward,
                                                         bool forward_gives_sums,
                                                         const std::optional<TunedPlan>& joined) {
  const PlanRequest fused = with(request, ConvPattern::joined_norms_forward_statistics);
  return if_it_runs(fused, [&] {
    const double apart_s = apart_limit_s([&] {
      const double join_s = joined ? with_statistics_s(with(request, ConvPattern::joined_forward_statistics), *joined) +
                                         own_pass_s(request, forward, "affine", &CandidateTimer::affine_s)
                                   : joined_apart_s(request, forward, forward_gives_sums);
      return join_s + own_pass_s(request, forward, "norm before", &CandidateTimer::norm_s);
    });
    return faster_forward(fused, 2, request, forward, apart_s);
  });
}

void ConvTuner::count_timing() {
  if (counts_.timed++ == 0)
    log::info("timing convolutions on {}: what was not run there before takes seconds to minutes, once",
              device_.machine.device);
}

}  // namespace chexbench::engine::cuda
