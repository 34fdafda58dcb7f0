// What cuDNN's convolution plans take on the GPU at hand: which engine, and whether fusing pays, is decided by this.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::engine {

struct PlanSweepOptions {
  std::vector<std::string> networks;  // as in the spec
  std::vector<int> batches;           // images of a step
  std::vector<spec::Precision> precisions;
  double budget_s = 600;  // no further plan is begun after that
};

// One candidate of one convolution.
struct PlanTiming {
  std::string network;
  spec::Precision precision = spec::Precision::f32;
  std::string pattern;  // what is computed with the convolution: engine/cuda/conv_pattern.hpp
  std::string shape;    // "n64 256x56x56 -> 64 k1 s1"
  std::string engine;   // cuDNN's engine and knobs; empty where cuDNN offers none
  bool ran = false;
  std::int64_t workspace_bytes = 0;
  double median_s = 0;  // of one run, by device events
  double flops_per_s = 0;
};

// Times every candidate of every convolution, the first network, batch and precision first; `on_timing` sees each as
// soon as it is known. Returns whether all were timed within the budget.
// @throws DeviceError where this build has no cuDNN, or there is no GPU; SpecError for an unknown network
bool sweep_plans(const PlanSweepOptions& options, const std::function<void(const PlanTiming&)>& on_timing);

}  // namespace chexbench::engine
