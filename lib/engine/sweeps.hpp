// Measures engine cuda piece by piece on the current GPU: its kernels, compared with the host, and cuDNN's plans.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// What to measure of the kernels.
struct KernelSweepOptions {
  std::vector<std::string> networks;  // Names as in the spec.
  int batch_size = 256;               // In images.
  int image_size = 224;               // In pixels.
  spec::Precision precision = spec::Precision::fp16;
  std::vector<std::string> kernels;  // Only these; all if empty.
  double budget_s = 600;             // No kernel is begun after that time.
};

// The measurement of one kernel at one shape.
struct KernelTiming {
  std::string network;
  std::string device;
  std::string kernel;  // As in engine/cuda/sweep/kernel_call.hpp.
  std::string shape;   // "802816x64 relu f16": rows x channels.
  // Both 0 where a setting is not the default, such as SGD, color images or several batches a step.
  int runs = 0;        // In one step with training.fused false.
  int fused_runs = 0;  // In one with training.fused, if every fused plan is taken; the tuner's choice is in between.
  std::int64_t bytes = 0;  // That it must read and write.
  bool ran = false;
  std::string reason;   // Why it did not run.
  double median_s = 0;  // Median time of one run with cold caches.
  double copy_s = 0;    // The same for a plain device copy that reads and writes the same number of bytes in total.
  // The result of the comparison with the host; see kernel_bench.hpp for the base of relative differences.
  std::int64_t checked_values = 0;
  std::string worst_result;  // The result whose difference is nearest to its limit, or farthest beyond.
  double difference = 0, allowed_difference = 0;

  bool agrees() const { return difference <= allowed_difference; }
  double bytes_per_s() const { return static_cast<double>(bytes) / median_s; }
  double copy_share() const { return copy_s / median_s; }  // Of the copy's bandwidth.
};

// Measures and checks every kernel that a step of the networks calls, and those of other settings, at each of its
// shapes; in each network first those that move the most bytes a step. Calls `on_timing` for each result at once.
// Returns whether everything was measured within the budget.
// @throws SpecError if a network or kernel is unknown (with the nearest name), or no network calls the kernels
// @throws DeviceError if this build has no cuDNN, there is no GPU, or it fails
bool sweep_kernels(const KernelSweepOptions& options, const std::function<void(const KernelTiming&)>& on_timing);

// What to measure of cuDNN's plans. The results show which plans are fastest and whether fusing pays.
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
  std::string pattern;  // The plan's fused operations: see engine/cuda/convolution/conv_pattern.hpp.
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
