#include "verbs/kernel_sweep/kernel_summary.hpp"

#include <algorithm>

namespace chexbench::verbs {

const KernelShare* StepShares::worst() const {
  const KernelShare* worst = nullptr;
  for (const KernelShare& kernel : kernels) {
    const bool counts = kernel.share >= kWorthNaming;
    if (counts && (worst == nullptr || kernel.copy_share < worst->copy_share)) worst = &kernel;
  }
  return worst;
}

StepShares shares_of_step(const std::vector<engine::KernelTiming>& timings, bool fused) {
  StepShares step;
  double copies_s = 0;
  for (const engine::KernelTiming& timing : timings) {
    const int runs = fused ? timing.fused_runs : timing.runs;
    if (!timing.ran || runs == 0) continue;
    auto kernel = std::ranges::find(step.kernels, timing.kernel, &KernelShare::kernel);
    if (kernel == step.kernels.end()) kernel = step.kernels.insert(kernel, {.kernel = timing.kernel});
    kernel->step_s += runs * timing.median_s;
    kernel->copy_share += runs * timing.copy_s;  // divided below
    step.own_s += runs * timing.median_s;
    copies_s += runs * timing.copy_s;
  }
  if (step.own_s > 0) step.copy_share = copies_s / step.own_s;
  for (KernelShare& kernel : step.kernels) {
    kernel.share = kernel.step_s / step.own_s;
    kernel.copy_share /= kernel.step_s;
  }
  std::ranges::stable_sort(step.kernels, std::greater{}, &KernelShare::step_s);
  return step;
}

}  // namespace chexbench::verbs
