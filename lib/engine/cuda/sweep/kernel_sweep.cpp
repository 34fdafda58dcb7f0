#include "engine/cuda/sweep/kernel_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/cuda/convolution/plan_bench.hpp"
#include "engine/cuda/runtime/stream.hpp"
#include "engine/cuda/sweep/kernel_bench.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

// The time of a plain copy on the device that reads and writes `bytes` together.
class CopyTimes {
 public:
  explicit CopyTimes(ColdTimer& timer) : timer_(timer) {}

  double copy_s(std::int64_t bytes) {
    const auto known = times_s_.find(bytes);
    if (known != times_s_.end()) return known->second;
    const std::size_t half = static_cast<std::size_t>(std::max<std::int64_t>(bytes / 2, 1));
    DeviceMemory from(half);
    const DeviceMemory to(half);
    from.fill(0x3c);
    return times_s_[bytes] = timer_.median_s([&] { copy_on_device(to.data(), from.data(), half, nullptr); });
  }

 private:
  ColdTimer& timer_;
  std::map<std::int64_t, double> times_s_;
};

void measure(const KernelCall& call, ColdTimer& timer, CopyTimes& copies, KernelTiming& timing) {
  {
    KernelBench bench(call);
    const KernelCheck check = bench.check();
    timing.checked_values = check.values;
    timing.worst_result = check.result;
    timing.difference = check.difference;
    timing.allowed_difference = check.allowed;
    timing.median_s = timer.median_s([&] { bench.run(); });
  }
  timing.copy_s = copies.copy_s(timing.bytes);
  timing.ran = true;
}

// Sets the results of running the kernel. One that does not run stays without times, and the sweep goes on.
void try_to_measure(const KernelCall& call, ColdTimer& timer, CopyTimes& copies, KernelTiming& timing) {
  try {
    measure(call, timer, copies, timing);
  } catch (const DeviceLostError&) {
    throw;
  } catch (const DeviceError& error) {
    timing.reason = error.what();
    check_device();
  }
}

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const Kernel kernel : all_kernels()) known.push_back(to_string(kernel));
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end())
      throw SpecError("kernel-sweep: there is no kernel '" + name + "'" + suggestion(name, known));
  }
}

// Kernels count rows in int.
void check_size(const KernelSweepOptions& options) {
  constexpr std::int64_t kMostPixels = std::int64_t{1} << 30;
  const std::int64_t pixels = std::int64_t{options.batch_size} * options.image_size * options.image_size;
  if (pixels > kMostPixels)
    throw SpecError(
        fmt::format("kernel-sweep: a batch of {} images of {}x{} has more than {} pixels; give a smaller "
                    "--batch-size or --image-size",
                    options.batch_size, options.image_size, options.image_size, kMostPixels));
}

}  // namespace

std::vector<KernelUse> kernels_to_sweep(const KernelSweepOptions& options, const std::string& network) {
  check_names(options.kernels);
  check_size(options);
  const model::Graph graph = model::make_network(network, options.image_size);
  std::vector<KernelUse> uses = kernel_list(graph, options.batch_size, options.precision);
  if (!options.kernels.empty()) {
    std::erase_if(uses, [&](const KernelUse& use) {
      return std::ranges::find(options.kernels, to_string(use.call.kernel)) == options.kernels.end();
    });
  }
  std::ranges::stable_sort(uses, std::greater{}, [](const KernelUse& use) {
    return bytes_moved(use.call) * std::max(use.runs, use.fused_runs);
  });
  return uses;
}

bool sweep_kernels(const KernelSweepOptions& options, const std::function<void(const KernelTiming&)>& on_timing) {
  std::vector<std::pair<std::string, KernelUse>> all;
  for (const std::string& network : options.networks) {
    for (const KernelUse& use : kernels_to_sweep(options, network)) all.emplace_back(network, use);
  }
  if (all.empty()) throw SpecError("kernel-sweep: none of these networks calls any of these kernels");
  require_device();
  const std::string device = current_device().name;
  ColdTimer timer;
  CopyTimes copies(timer);
  const double until_s = now_s() + options.budget_s;
  return std::ranges::all_of(all, [&](const auto& item) {
    const auto& [network, use] = item;
    if (now_s() > until_s) return false;
    KernelTiming timing{.network = network,
                        .device = device,
                        .kernel = to_string(use.call.kernel),
                        .shape = shape_text(use.call),
                        .runs = use.runs,
                        .fused_runs = use.fused_runs,
                        .bytes = bytes_moved(use.call)};
    try_to_measure(use.call, timer, copies, timing);
    on_timing(timing);
    return true;
  });
}

}  // namespace chexbench::engine::cuda
