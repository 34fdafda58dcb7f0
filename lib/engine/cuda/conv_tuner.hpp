// Which of cuDNN's candidates a convolution runs, and whether a fused one pays. Plain: tests script the device.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/errors.hpp"
#include "engine/cuda/conv_candidates.hpp"

namespace chexbench::engine::cuda {

// Candidates that are timed, of each request; heuristics put the promising ones first. PyTorch's benchmark of cuDNN's
// plans tries as many.
inline constexpr int kMostTimed = 10;

// The plan that was chosen, built.
struct TunedPlan {
  std::unique_ptr<ConvCandidates> candidates;
  int index = 0;
  Plan plan;
  double seconds = 0;
};

// Both together: one alone would still need the norm's output in memory.
struct ProloguePlans {
  TunedPlan forward;
  TunedPlan weight_gradient;
};

struct TuningCounts {
  int cached = 0;  // requests whose timing was known
  int timed = 0;
  double timing_s = 0;
  int without_fused = 0;    // requests for a fused plan of which none runs
  std::string fused_error;  // of the first of them
};

// Asks the cache first and times what it does not know. Not thread-safe; `device` and `cache` outlive it.
class ConvTuner {
 public:
  ConvTuner(const ConvDevice& device, PlanCache& cache) : device_(device), cache_(cache) {}

  // The fastest plan; of equally fast ones that with the smaller workspace, then the first.
  // @throws DeviceError, naming the request, where none runs
  TunedPlan fastest(const PlanRequest& request);

  // The plan that gives the sums of y along with y, where that takes less time to the mean and variance of y than
  // `forward`, chosen for `request`, and a pass over y. None where it takes more, or does not run, which is counted.
  std::optional<TunedPlan> forward_statistics(const PlanRequest& request, const TunedPlan& forward);

  // The plans that normalize their input themselves and give the sums of y, where they take less time together than a
  // norm's pass, `forward` (with sums or without), a pass for statistics and `weight_gradient`; `request` is that of
  // the plain forward pass. None where they take more, or do not run, which is counted.
  std::optional<ProloguePlans> prologue(const PlanRequest& request, const TunedPlan& forward, bool forward_gives_sums,
                                        const TunedPlan& weight_gradient);

  // The plan of a data gradient that gives the sums of the norm before it as well, where it takes less time than
  // `data_gradient`, chosen for `request`, and a pass for the sums. None where it takes more, or does not run, which is
  // counted.
  std::optional<TunedPlan> norm_before(const PlanRequest& request, const TunedPlan& data_gradient);

  const TuningCounts& counts() const { return counts_; }

 private:
  bool take_cached(const PlanRequest& request, TunedPlan& tuned);
  void take_timed(const PlanRequest& request, TunedPlan& tuned);
  void drop_losers(const PlanRequest& request, TunedPlan& tuned);
  double with_statistics_s(const PlanRequest& request, const TunedPlan& tuned);
  // Of a pass of our own beside the plan, which `time` times; kept in the cache under `name`.
  double own_pass_s(const PlanRequest& request, const TunedPlan& tuned, const char* name,
                    double (CandidateTimer::*time)());
  void count_timing();
  void count_missing(const DeviceError& error);

  const ConvDevice& device_;
  PlanCache& cache_;
  TuningCounts counts_;
};

}  // namespace chexbench::engine::cuda
