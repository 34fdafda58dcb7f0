#include "verbs/kernel_sweep/kernel_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/errors.hpp"
#include "core/interrupt.hpp"

namespace chexbench::verbs {
namespace {

constexpr std::ptrdiff_t kMostNamed = 5;

bool is_wrong(const KernelTiming& timing) { return timing.ran && !timing.agrees(); }
bool has_failed(const KernelTiming& timing) { return !timing.ran; }

std::string named(const std::vector<KernelTiming>& timings, bool (*which)(const KernelTiming&)) {
  std::string names;
  const std::ptrdiff_t count = std::ranges::count_if(timings, which);
  std::ptrdiff_t listed = 0;
  for (const KernelTiming& timing : timings) {
    if (!which(timing) || listed == kMostNamed) continue;
    names += fmt::format("{}{} at {} of {}", listed++ == 0 ? "" : ", ", timing.kernel, timing.shape, timing.network);
  }
  return count > listed ? names + fmt::format(" and {} more", count - listed) : names;
}

void throw_if_wrong(const std::vector<KernelTiming>& timings) {
  if (std::ranges::any_of(timings, is_wrong))
    throw ComparisonError("kernel-sweep: kernels compute something else than the host: " + named(timings, is_wrong));
  const auto failed = std::ranges::find_if(timings, has_failed);
  if (failed != timings.end())
    throw DeviceError(fmt::format("kernel-sweep: kernels did not run: {}; the first: {}", named(timings, has_failed),
                                  failed->reason));
}

}  // namespace

bool kernel_sweep(const KernelSweepSetting& setting, const Sweep& sweep,
                  const std::function<void(const std::string&)>& write) {
  std::vector<KernelTiming> all, of_network;
  const auto end_network = [&](bool complete) {
    if (!of_network.empty()) write(network_summary(setting, of_network, complete));
    of_network.clear();
  };
  const bool complete = sweep(setting.options, [&](const KernelTiming& timing) {
    if (all.empty()) write(sweep_header(setting));
    if (!of_network.empty() && of_network.front().network != timing.network) end_network(true);
    if (of_network.empty()) write(network_header(setting, timing));
    write(timing_line(setting, timing));
    of_network.push_back(timing);
    all.push_back(timing);
    throw_if_interrupted();
  });
  end_network(complete);
  throw_if_wrong(all);
  return complete;
}

}  // namespace chexbench::verbs
