// The shares of a network's kernels in a step.
#pragma once

#include <string>
#include <vector>

#include "engine/sweeps.hpp"

namespace chexbench::verbs {

// One kernel over all of its shapes.
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

}  // namespace chexbench::verbs
