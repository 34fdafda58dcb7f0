// Measures and checks the own kernels of engine cuda on a GPU of this machine, for `chexbench dev kernel-sweep`.
#pragma once

#include <functional>
#include <string>

#include "verbs/kernel_sweep/kernel_summary.hpp"

namespace chexbench::verbs {

using engine::KernelSweepOptions;
using engine::KernelTiming;

// The context of the timings in the output.
struct KernelSweepSetting {
  KernelSweepOptions options;
  std::string format = "table";  // "table", "csv" or "json"
};

// Returns the text before the timings of all networks, or of one; empty in formats without one.
std::string sweep_header(const KernelSweepSetting& setting);
std::string network_header(const KernelSweepSetting& setting, const KernelTiming& first);
// Returns one line of text.
std::string timing_line(const KernelSweepSetting& setting, const KernelTiming& timing);
// Returns the text after the timings of one network: a table, or a JSON line with "summary": true; nothing in CSV.
// `complete`: all of its kernels were measured.
std::string network_summary(const KernelSweepSetting& setting, const std::vector<KernelTiming>& timings, bool complete);

// Runs a sweep: engine::sweep_kernels(), or a test's replacement.
using Sweep = std::function<bool(const KernelSweepOptions&, const std::function<void(const KernelTiming&)>&)>;

// Runs the sweep and passes its lines to `write`, each as soon as it is ready. Returns whether everything was measured
// within the budget.
// @throws ComparisonError after the last line, if a kernel's result differs from the host's; DeviceError after the last
// line, if a kernel did not run; InterruptedError after a signal; otherwise as `sweep` does
bool kernel_sweep(const KernelSweepSetting& setting, const Sweep& sweep,
                  const std::function<void(const std::string&)>& write);

}  // namespace chexbench::verbs
