// Decides which of cuDNN's candidates a convolution runs, and whether a fused plan is faster than separate passes. It
// knows no CUDA, so tests can give it a scripted device.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/cuda/convolution/conv_candidates.hpp"

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

// The plans that were chosen for one convolution, at most one for each pattern.
class ShapePlans {
 public:
  // `request` is for any pattern of the convolution.
  explicit ShapePlans(const PlanRequest& request) : request_(request) {}

  const ConvShape& shape() const { return request_.shape; }
  PlanRequest request(ConvPattern pattern) const {
    PlanRequest request = request_;
    request.pattern = pattern;
    return request;
  }
  // Returns nullptr if there is none.
  const TunedPlan* find(ConvPattern pattern) const {
    const std::optional<TunedPlan>& plan = plans_[static_cast<std::size_t>(pattern)];
    return plan ? &*plan : nullptr;
  }
  void add(ConvPattern pattern, TunedPlan plan) { plans_[static_cast<std::size_t>(pattern)] = std::move(plan); }

  bool packs = false;  // the plans of its packed shape (with_packed_output()) are used in its place

 private:
  PlanRequest request_;
  std::array<std::optional<TunedPlan>, kConvPatterns> plans_;
};

// How many candidates of a request are timed at most. cuDNN's heuristics put the promising ones first, and PyTorch's
// benchmark of cuDNN's plans tries the same number.
inline constexpr int kMostTimed = 10;

// Limits of the search. Plans that are chosen among fewer candidates than usual are not kept in the cache.
struct TuningLimits {
  int candidates = kMostTimed;  // of a request that are timed; at least 1
  // After so many seconds of timing, a request takes the first plan that runs, and only fused plans that are in the
  // cache.
  double seconds = std::numeric_limits<double>::infinity();
  bool forces_fused = false;  // takes a fused plan wherever one runs, however slow: for tests of its results
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

  // Returns the fastest plan among those whose results agree (CandidateChoice in conv_tuner.cpp).
  // For this and all functions below: @throws InterruptedError if a signal asks the process to end, DeviceLostError,
  // naming the plan, if the device stopped working
  // @throws DeviceError, naming the request, if no plan runs
  TunedPlan fastest(const PlanRequest& request);

  // Adds the fused plan of `pattern` to `plans` if it takes less time than the separate passes that it replaces, with
  // all passes up to the statistics of y that either of them needs, or in any time if fused plans are forced. `plans`
  // has the plain plans of the pattern's passes, and those fused plans that are to be compared with it. Adds nothing if
  // no such plan runs, which counts() reports. `pattern` is one of kReplacements (conv_tuner.cpp).
  // normalized_forward_statistics is added together with normalized_weight_gradient, because the norm's output would
  // still be needed in memory if only one of them computed the norm itself.
  void add_if_faster(ConvPattern pattern, ShapePlans& plans);

  // Returns whether a convolution after a norm that writes into a dense block takes less time if it writes a packed
  // tensor that is then copied there: in all passes together, with those of the norm and the statistics of the output.
  // True if fused plans, for which outputs are packed, are forced; false if the time for tuning is over.
  bool packs(const ShapePlans& in_block, const ShapePlans& packed);

  const TuningCounts& counts() const { return counts_; }

 private:
  bool take_cached(const PlanRequest& request, TunedPlan& tuned);
  void take_timed(const PlanRequest& request, TunedPlan& tuned);
  bool is_late() const { return counts_.timing_s > limits_.seconds; }
  // Returns compare(), which may find that a fused plan does not run; then false.
  bool if_it_runs(const PlanRequest& fused, const std::function<bool()>& compare);
  // The seconds of a pattern, with all passes from the node that it computes before the convolution to the statistics
  // of y: by its plan if `plans` has it, else in separate passes.
  double seconds_of(const ShapePlans& plans, ConvPattern pattern);
  double fused_s(const ShapePlans& plans, ConvPattern pattern, const TunedPlan& plan);
  double separate_s(const ShapePlans& plans, ConvPattern pattern);
  // The seconds of all passes of a convolution, of the norm before it, and of the statistics of its output.
  double with_norm_s(const ShapePlans& plans);
  double with_statistics_s(const PlanRequest& request, const TunedPlan& tuned);
  // The seconds of one of our kernels, which precedes or follows that pass: measured, or found in the cache.
  double own_pass_s(const ShapePlans& plans, ConvPass within, OwnPass pass);
  void count_timing();

  const ConvDevice& device_;
  PlanCache& cache_;
  const TuningLimits limits_;
  TuningCounts counts_;
};

}  // namespace chexbench::engine::cuda
