// The output of the sweeps over engine cuda on a GPU of this machine: its own kernels, measured and checked
// (`chexbench dev kernel-sweep`), and cuDNN's convolution plans, timed (`chexbench dev plan-sweep`).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/sweeps.hpp"

namespace chexbench::verbs {

using engine::KernelSweepOptions;
using engine::KernelTiming;
using engine::PlanSweepOptions;

// The context of the timings in the output.
struct KernelSweepSetting {
  KernelSweepOptions options;
  std::string format = "table";  // "table", "csv" or "json"
};

// Runs a sweep: engine::sweep_kernels(), or a test's replacement.
using Sweep = std::function<bool(const KernelSweepOptions&, const std::function<void(const KernelTiming&)>&)>;

// Runs the sweep and passes its lines to `write`, each as soon as it is ready. Returns whether everything was measured
// within the budget.
// @throws ComparisonError after the last line, if a kernel's result differs from the host's; DeviceError after the last
// line, if a kernel did not run; InterruptedError after a signal; otherwise as `sweep` does
bool kernel_sweep(const KernelSweepSetting& setting, const Sweep& sweep,
                  const std::function<void(const std::string&)>& write);

// A kernel's share of a step, over all of its shapes.
struct KernelShare {
  std::string kernel;
  double step_s = 0;      // time of a step in it
  double share = 0;       // of a step's time in all own kernels
  double copy_share = 0;  // of the bandwidth of plain copies of the same size, weighted by time
};

// All kernels of a step, with separate passes or with those that fused convolutions leave.
struct StepShares {
  double own_s = 0;                  // in own kernels
  double copy_share = 0;             // as above, of all of them; 0 if a step runs none of them
  std::vector<KernelShare> kernels;  // those that a step runs, the slowest first

  // The kernel that is farthest from a copy among those with at least kWorthNaming of the time; null if a step runs
  // none of them.
  const KernelShare* worst() const;
  static constexpr double kWorthNaming = 0.05;
};

// Kernels that did not run do not count.
StepShares shares_of_step(const std::vector<engine::KernelTiming>& timings, bool fused);

// Returns one line with one JSON object: network, precision, pattern, shape, engine, ran, workspace_bytes, and, if the
// plan ran, median_us and tflops_per_s.
std::string to_json_line(const engine::PlanTiming& timing);

// Times the plans and passes each timing as a line to `write_line` as soon as it is ready. Returns whether all plans
// were timed within the budget.
// @throws SpecError, DeviceError as engine::sweep_plans()
bool plan_sweep(const PlanSweepOptions& options, const std::function<void(const std::string&)>& write_line);

}  // namespace chexbench::verbs
