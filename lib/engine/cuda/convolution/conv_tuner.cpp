#include "engine/cuda/convolution/conv_tuner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

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

// A fused pattern, the pattern that it replaces, and one of our passes, which it saves. The pass for statistics after a
// plan of forward counts as part of that pattern.
struct Replacement {
  ConvPattern fused, replaced;
  std::optional<OwnPass> pass = {};
};
constexpr std::array kReplacements{
    Replacement{ConvPattern::forward_statistics, ConvPattern::forward},
    Replacement{ConvPattern::normalized_forward_statistics, ConvPattern::forward_statistics, OwnPass::norm},
    Replacement{ConvPattern::joined_forward_statistics, ConvPattern::forward_statistics, OwnPass::join},
    Replacement{ConvPattern::joined_norms_forward_statistics, ConvPattern::joined_forward_statistics, OwnPass::norm},
    Replacement{ConvPattern::data_gradient_norm, ConvPattern::data_gradient, OwnPass::norm_sums},
    Replacement{ConvPattern::data_gradient_join, ConvPattern::data_gradient, OwnPass::join_sums},
    Replacement{ConvPattern::data_gradient_join_norms, ConvPattern::data_gradient_join, OwnPass::norm_sums},
};

// Their names in the keys of the cache, in the order of the enumerators.
constexpr std::array kOwnPasses{"norm before", "join before", "norm sums", "join sums", "affine", "copy"};
static_assert(kOwnPasses.size() == static_cast<std::size_t>(OwnPass::copy) + 1);

// The norms that a pattern computes before the convolution.
int norms_of(ConvPattern pattern) {
  const ConvBefore before = parts_of(pattern).before;
  return before == ConvBefore::nothing ? 0 : before == ConvBefore::join_of_norms ? 2 : 1;
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

// Two samples agree if the L2 norm of their difference is at most this part of the larger one's norm: correct plans do
// regardless of the order of their additions, and wrong ones (which differ by about 1) do not.
double sample_tolerance(spec::Precision precision) { return precision == spec::Precision::f32 ? 1e-3 : 3e-2; }

// Chooses among the candidates of a request, by their times and results. Collects those that ran, in cuDNN's order.
class CandidateChoice {
 public:
  explicit CandidateChoice(double tolerance) : tolerance_(tolerance) {}

  struct Candidate {
    int index = 0;
    Plan plan;
    CandidateRun run;
  };

  // Returns why the candidate cannot be used (it left results unwritten or not finite), or "" if it was added.
  std::string add(int index, const Plan& plan, CandidateRun run) {
    if (!std::ranges::all_of(run.sample, [](float value) { return std::isfinite(value); }))
      return plan.engine + " leaves some of its results unwritten, or they are not finite";
    candidates_.push_back({index, plan, std::move(run)});
    return "";
  }
  // Returns the fastest of those that agree with most; of equally fast ones, the one with the smallest workspace, then
  // the first. No candidate serves as the reference, because any of them may be wrong; if they form groups of the same
  // size, the group of cuDNN's best guess counts. At least one candidate must have been added.
  const Candidate& best() const {
    const Candidate& trusted = most_trusted();
    const Candidate* best = &trusted;
    const auto rank = [](const Candidate& one) {
      return std::tuple(one.run.seconds, one.plan.workspace_bytes, one.index);
    };
    for (const Candidate& one : candidates_) {
      if (agree(one, trusted) && rank(one) < rank(*best)) best = &one;
    }
    return *best;
  }
  // Returns the engines of those that do not agree with most.
  std::vector<std::string> outsiders() const {
    std::vector<std::string> engines;
    if (candidates_.empty()) return engines;
    const Candidate& trusted = most_trusted();
    for (const Candidate& one : candidates_) {
      if (!agree(one, trusted)) engines.push_back(one.plan.engine);
    }
    return engines;
  }
  int count() const { return static_cast<int>(candidates_.size()); }
  // Infinite without candidates.
  double least_s() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Candidate& one : candidates_) least = std::min(least, one.run.seconds);
    return least;
  }

 private:
  bool agree(const Candidate& a, const Candidate& b) const {
    if (a.run.sample.size() != b.run.sample.size()) return false;
    double difference = 0, largest_a = 0, largest_b = 0;
    for (std::size_t i = 0; i < a.run.sample.size(); ++i) {
      const double of_a = a.run.sample[i], of_b = b.run.sample[i];
      difference += (of_a - of_b) * (of_a - of_b);
      largest_a += of_a * of_a;
      largest_b += of_b * of_b;
    }
    return std::sqrt(difference) <= tolerance_ * std::sqrt(std::max(largest_a, largest_b));
  }
  const Candidate& most_trusted() const {
    return *std::ranges::max_element(candidates_, {}, [&](const Candidate& one) {
      return std::ranges::count_if(candidates_, [&](const Candidate& other) { return agree(one, other); });
    });
  }

  const double tolerance_;
  std::vector<Candidate> candidates_;
};

// Runs one candidate and adds it to the choice. Returns why it cannot be used, or nothing.
std::string try_candidate(const PlanRequest& request, ConvCandidates& candidates, CandidateTimer& timer, int index,
                          CandidateChoice& choice) {
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

bool ConvTuner::if_it_runs(const PlanRequest& fused, const std::function<bool()>& compare) {
  const bool is_known = cache_.find(plan_key(device_.machine, fused)) != nullptr;
  if (is_late() && !is_known && !limits_.forces_fused) return false;
  try {
    return compare();
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    if (counts_.without_fused++ == 0) counts_.fused_error = error.what();
    return false;
  }
}

void ConvTuner::add_if_faster(ConvPattern pattern, ShapePlans& plans) {
  const PlanRequest request = plans.request(pattern);
  const bool normalizes = pattern == ConvPattern::normalized_forward_statistics;
  const auto weight_gradient_s = [&](const TunedPlan* plan) { return normalizes ? plan->seconds : 0; };
  TunedPlan plan, weight_gradient;
  const bool is_faster = if_it_runs(request, [&] {
    const double limit_s =
        limits_.forces_fused ? std::numeric_limits<double>::infinity()
                             : separate_s(plans, pattern) + weight_gradient_s(plans.find(ConvPattern::weight_gradient));
    const CachedPlan* const known = cache_.find(statistics_key(device_.machine, request));
    if (pattern == ConvPattern::forward_statistics && known != nullptr && known->seconds >= limit_s) {
      ++counts_.cached;
      return false;
    }
    plan = fastest(request);
    if (normalizes) weight_gradient = fastest(plans.request(ConvPattern::normalized_weight_gradient));
    return fused_s(plans, pattern, plan) + weight_gradient_s(&weight_gradient) < limit_s;
  });
  if (!is_faster) return;
  plans.add(pattern, std::move(plan));
  if (normalizes) plans.add(ConvPattern::normalized_weight_gradient, std::move(weight_gradient));
}

double ConvTuner::seconds_of(const ShapePlans& plans, ConvPattern pattern) {
  const TunedPlan* const plan = plans.find(pattern);
  return plan != nullptr ? fused_s(plans, pattern, *plan) : separate_s(plans, pattern);
}

// In forward, a small kernel computes the scale and shift of each norm that the plan reads.
double ConvTuner::fused_s(const ShapePlans& plans, ConvPattern pattern, const TunedPlan& plan) {
  if (parts_of(pattern).pass != ConvPass::forward) return plan.seconds;
  const double seconds = with_statistics_s(plans.request(pattern), plan);
  const int norms = norms_of(pattern);
  if (norms == 0) return seconds;
  return seconds + norms * own_pass_s(plans, ConvPass::forward, OwnPass::affine);
}

double ConvTuner::separate_s(const ShapePlans& plans, ConvPattern pattern) {
  const Replacement& replacement = *std::ranges::find(kReplacements, pattern, &Replacement::fused);
  const double replaced_s = seconds_of(plans, replacement.replaced);
  if (!replacement.pass) return replaced_s;
  return replaced_s + own_pass_s(plans, parts_of(pattern).pass, *replacement.pass);
}

double ConvTuner::with_norm_s(const ShapePlans& plans) {
  const TunedPlan* const normalized = plans.find(ConvPattern::normalized_weight_gradient);
  const TunedPlan& weight_gradient = normalized != nullptr ? *normalized : *plans.find(ConvPattern::weight_gradient);
  return seconds_of(plans, ConvPattern::normalized_forward_statistics) + weight_gradient.seconds +
         seconds_of(plans, ConvPattern::data_gradient_norm);
}

bool ConvTuner::packs(const ShapePlans& in_block, const ShapePlans& packed) {
  return if_it_runs(packed.request(ConvPattern::normalized_forward_statistics), [&] {
    return limits_.forces_fused ||
           with_norm_s(packed) + own_pass_s(in_block, ConvPass::forward, OwnPass::copy) < with_norm_s(in_block);
  });
}

// The plan that it is timed with only provides the memory.
double ConvTuner::own_pass_s(const ShapePlans& plans, ConvPass within, OwnPass pass) {
  const ConvPattern plain = within == ConvPass::forward ? ConvPattern::forward : ConvPattern::data_gradient;
  const std::string key = fmt::format("{} | {}", plan_key(device_.machine, plans.request(plain)),
                                      kOwnPasses[static_cast<std::size_t>(pass)]);
  if (const CachedPlan* known = cache_.find(key); known != nullptr) {
    ++counts_.cached;
    return known->seconds;
  }
  count_timing();
  const AddTime timing(counts_.timing_s);
  const TunedPlan* const sums = within == ConvPass::forward ? plans.find(ConvPattern::forward_statistics) : nullptr;
  const TunedPlan& tuned = sums != nullptr ? *sums : *plans.find(plain);
  const double seconds = tuned.candidates->timer()->own_pass_s(pass);
  cache_.add(key, {"own kernel", 0, seconds});
  return seconds;
}

void ConvTuner::count_timing() {
  if (counts_.timed++ == 0)
    log::info("timing convolutions on {}: what was not run there before takes seconds to minutes, once",
              device_.machine.device);
}

}  // namespace chexbench::engine::cuda
