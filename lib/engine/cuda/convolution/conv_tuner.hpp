// Decides which of cuDNN's candidates a convolution runs, and whether a fused plan is faster than separate passes. It
// knows no CUDA, so tests can give it a scripted device.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "engine/cuda/convolution/conv_candidates.hpp"
#include "engine/cuda/convolution/plan_timer.hpp"

namespace chexbench::engine::cuda {

// Candidates that take more than this times the time of the best one are not timed further.
inline constexpr double kHopeless = 1.5;

// The plan that was chosen for a request, already built. Runs as candidates->run(index, ...).
struct TunedPlan {
  std::unique_ptr<ConvCandidates> candidates;
  int index = 0;
  Plan plan;
  double seconds = 0;  // of one run
};

// The plans of a convolution that computes the norm before it. Forward and weight gradient are chosen together,
// because the norm's output would still be needed in memory if only one of them computed the norm itself.
struct ProloguePlans {
  TunedPlan forward;
  TunedPlan weight_gradient;
};

// The plans that were chosen for all passes of one convolution, as pointers into their owner.
struct ChosenPlans {
  PlanRequest request;  // of the plain forward pass
  const TunedPlan* forward = nullptr;
  bool gives_sums = false;  // whether `forward` writes the sums of its output
  const TunedPlan* data_gradient = nullptr;
  const TunedPlan* data_gradient_norm = nullptr;  // null if the norm before it has a separate pass for its sums
  const TunedPlan* weight_gradient = nullptr;
  const ProloguePlans* prologue = nullptr;  // null if the norm before it has a separate pass
};

// What the tuner did, for the log.
struct TuningCounts {
  int cached = 0;           // timings found in the cache
  int timed = 0;            // timings made
  double timing_s = 0;      // time spent on making them
  int hurried = 0;          // requests for which the first plan that ran was taken
  int without_fused = 0;    // requests for a fused plan where none runs
  std::string fused_error;  // the error of the first such request
};

// Uses timings from the cache, and makes the missing ones. `device` and `cache` must outlive this object. Not
// thread-safe.
class ConvTuner {
 public:
  ConvTuner(const ConvDevice& device, PlanCache& cache, TuningLimits limits = {})
      : device_(device), cache_(cache), limits_(limits) {}

  // Returns the fastest plan among those whose results agree (conv_candidates.hpp).
  // For this and all functions below: @throws InterruptedError if a signal asks the process to end, DeviceLostError,
  // naming the plan, if the device stopped working
  // @throws DeviceError, naming the request, if no plan runs
  TunedPlan fastest(const PlanRequest& request);

  // Returns the plan that computes the sums of y together with y, if it reaches the mean and variance of y in less
  // time (or in any, if fused plans are forced) than `forward` (the plan chosen for `request`) and a separate pass over
  // y. Returns std::nullopt if it is not faster, or if no such plan runs, which counts() reports.
  std::optional<TunedPlan> forward_statistics(const PlanRequest& request, const TunedPlan& forward);

  // Returns the plans that normalize their input themselves and compute the sums of y. Returns them only if together
  // they take less time than the separate passes: the norm, `forward` (with sums or without), the statistics and
  // `weight_gradient`. `request` is the request of the plain forward pass. Returns std::nullopt if they are not
  // faster, or if no such plans run, which counts() reports.
  std::optional<ProloguePlans> prologue(const PlanRequest& request, const TunedPlan& forward, bool forward_gives_sums,
                                        const TunedPlan& weight_gradient);

  // Returns the plan of a data gradient that also computes the sums of the norm before the convolution, if it takes
  // less time than `data_gradient` (the plan chosen for `request`) and a separate pass for these sums. Returns
  // std::nullopt if it is not faster, or if no such plan runs, which counts() reports.
  std::optional<TunedPlan> norm_before(const PlanRequest& request, const TunedPlan& data_gradient);

  // Returns the plan of a data gradient that also adds the other gradient of a residual join and computes the sums of
  // its norm, if it takes less time than `data_gradient` and a separate pass; otherwise as norm_before().
  std::optional<TunedPlan> join(const PlanRequest& request, const TunedPlan& data_gradient);

  // The same where the residual is a norm too, whose sums would take one more pass. `join` is the result of join().
  std::optional<TunedPlan> join_norms(const PlanRequest& request, const TunedPlan& data_gradient,
                                      const std::optional<TunedPlan>& join);

  // Returns the forward plan that computes the residual join before it, writes its result, and computes the sums of y,
  // if it takes less time than the separate passes: the join, `forward` (with sums or without) and the statistics.
  // `request` is the request of the plain forward pass. Otherwise as norm_before().
  std::optional<TunedPlan> joined_forward(const PlanRequest& request, const TunedPlan& forward,
                                          bool forward_gives_sums);

  // The same where the residual is a norm too, which would take one more pass. `joined` is the result of
  // joined_forward().
  std::optional<TunedPlan> joined_norms_forward(const PlanRequest& request, const TunedPlan& forward,
                                                bool forward_gives_sums, const std::optional<TunedPlan>& joined);

  // Returns whether a convolution after a norm that writes into a dense block takes less time if it writes a packed
  // tensor that is then copied there: in all passes together, with those of the norm and the statistics of the output.
  // True if fused plans, for which outputs are packed, are forced; false if the time for tuning is over.
  bool packs(const ChosenPlans& in_block, const ChosenPlans& packed);

  const TuningCounts& counts() const { return counts_; }

 private:
  bool take_cached(const PlanRequest& request, TunedPlan& tuned);
  void take_timed(const PlanRequest& request, TunedPlan& tuned);
  // Runs one candidate and adds it to the choice. Returns why it cannot be used, or nothing.
  std::string try_candidate(const PlanRequest& request, ConvCandidates& candidates, CandidateTimer& timer, int index,
                            CandidateChoice& choice);
  template <typename Compare>
  auto if_it_runs(const PlanRequest& fused, const Compare& compare) -> decltype(compare());
  // Returns the seconds that a fused plan must beat: those of `separate_s`, or infinity if fused plans are forced.
  template <typename Separate>
  double apart_limit_s(const Separate& separate_s) {
    return limits_.forces_fused ? std::numeric_limits<double>::infinity() : separate_s();
  }
  // The seconds of the norm, forward, the statistics and the weight gradient: with a separate pass for the norm, and
  // with the norm within the convolution.
  double norm_apart_s(const ChosenPlans& plans);
  double norm_within_s(const PlanRequest& request, const TunedPlan& forward, const ProloguePlans& plans);
  // The seconds of all passes of a convolution, of the norm before it, and of the statistics of its output.
  double with_norm_s(const ChosenPlans& plans);
  bool is_late() const { return counts_.timing_s > limits_.seconds; }
  // Returns the fused plan if it takes less than `apart_s`.
  std::optional<TunedPlan> faster(const PlanRequest& fused, double apart_s);
  double join_apart_s(const PlanRequest& request, const TunedPlan& data_gradient);
  // Returns the fused forward plan if it and the small kernels of `norms` norms take less than `apart_s`.
  std::optional<TunedPlan> faster_forward(const PlanRequest& fused, int norms, const PlanRequest& request,
                                          const TunedPlan& forward, double apart_s);
  // The time of the passes from the join to the statistics of y.
  double joined_apart_s(const PlanRequest& request, const TunedPlan& forward, bool forward_gives_sums);
  double norm_sums_s(const PlanRequest& request, const TunedPlan& data_gradient);
  double with_statistics_s(const PlanRequest& request, const TunedPlan& tuned);
  // Returns the seconds of one of our passes, measured by `time` or found in the cache under `name`.
  double own_pass_s(const PlanRequest& request, const TunedPlan& tuned, const char* name,
                    double (CandidateTimer::*time)());
  void count_timing();

  const ConvDevice& device_;
  PlanCache& cache_;
  const TuningLimits limits_;
  TuningCounts counts_;
};

}  // namespace chexbench::engine::cuda
