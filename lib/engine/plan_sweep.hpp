// Measures how long cuDNN's plans for each convolution take on the present GPU. The results show which plans are
// fastest and whether fusing pays.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// What to measure.
struct PlanSweepOptions {
  std::vector<std::string> networks;  // Names as in the spec.
  std::vector<int> batches;           // Batch sizes to measure, in images.
  std::vector<spec::Precision> precisions;
  double budget_s = 600;  // No plan is begun after that time.
};

// The measurement of one candidate plan for one convolution.
struct PlanTiming {
  std::string network;
  spec::Precision precision = spec::Precision::f32;
  std::string pattern;  // What the plan fuses: engine/cuda/convolution/conv_pattern.hpp.
  std::string shape;    // "n64 256x56x56 -> 64 k1 s1"
  std::string engine;   // cuDNN's engine and knobs; empty if cuDNN offers no plan.
  bool ran = false;
  std::string reason;  // Why it did not run.
  std::int64_t workspace_bytes = 0;
  double median_s = 0;  // Median time of one run, measured with device events.
  double flops_per_s = 0;
};

// Times every candidate of every convolution in the order of networks, batches and precisions, on the current GPU, and
// calls `on_timing` for each result at once. Returns whether everything was timed within the budget.
// @throws SpecError if a network is unknown
// @throws DeviceError if this build has no cuDNN or there is no GPU
bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

}  // namespace chexbench::engine
