#include "kernel_time/kernel_tally.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace chexbench::measure {
namespace {

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

// CUPTI leaves times at 0 if its memory for them was full.
bool KernelTally::has_times(std::uint64_t begin_ns, std::uint64_t end_ns) {
  const bool known = begin_ns != 0 && end_ns >= begin_ns;
  if (!known) lose(1);
  return known;
}

void KernelTally::kernel(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (!has_times(begin_ns, end_ns)) return;
  auto found = kernels_.find(name);
  if (found == kernels_.end()) {
    const bool begins_step = !options_.step_kernel.empty() && name.find(options_.step_kernel) != std::string_view::npos;
    found = kernels_.emplace(name, Kernel{.begins_step = begins_step, .sums = {}}).first;
  }
  if (found->second.begins_step) begin_step(begin_ns);
  found->second.sums.step.add(end_ns - begin_ns, busy_.add(begin_ns, end_ns));
}

void KernelTally::copy(std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (has_times(begin_ns, end_ns)) copies_.step.add(end_ns - begin_ns);
}

void KernelTally::memset(std::uint64_t begin_ns, std::uint64_t end_ns) {
  if (has_times(begin_ns, end_ns)) memsets_.step.add(end_ns - begin_ns);
}

void KernelTally::begin_step(std::uint64_t begin_ns) {
  for (auto& [name, kernel] : kernels_) end_step(kernel.sums);
  end_step(copies_);
  end_step(memsets_);
  if (begun_steps_ == options_.skipped_steps) {
    window_begin_ns_ = begin_ns;
    busy_.begin_at(begin_ns);
  }
  window_end_ns_ = std::max(window_end_ns_, begin_ns);
  ++begun_steps_;
}

void KernelTally::end_step(Sums& sums) const {
  if (begun_steps_ > options_.skipped_steps) {
    sums.window.count += sums.step.count;
    sums.window.time_ns += sums.step.time_ns;
    sums.window.own_ns += sums.step.own_ns;
  }
  sums.step = {};
}

std::vector<OperationTime> KernelTally::kernels_by_time() const {
  std::vector<OperationTime> all;
  for (const auto& [name, kernel] : kernels_) {
    const Sum& sum = kernel.sums.window;
    if (sum.count > 0) all.push_back({name, sum.count, seconds(sum.time_ns), seconds(sum.own_ns)});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, &OperationTime::own_s);
  return all;
}

std::string KernelTally::why_no_window() const {
  return fmt::format("two steps are needed after {} of warm-up: of kernels with '{}' in their names, {} ran",
                     options_.skipped_steps, options_.step_kernel, begun_steps_);
}

KernelTimes KernelTally::times() const {
  KernelTimes times{.lost_records = lost_records_};
  if (begun_steps_ < options_.skipped_steps + 2) {
    times.problem = why_no_window();
    return times;
  }
  const auto of = [](const char* name, const Sum& sum) { return OperationTime{name, sum.count, seconds(sum.time_ns)}; };
  times.steps = begun_steps_ - options_.skipped_steps - 1;
  times.window_s = seconds(window_end_ns_ - window_begin_ns_);
  times.kernel_s = seconds(busy_.covered_ns(window_end_ns_));
  times.exact = lost_records_ == 0 && busy_.exact(window_end_ns_);
  times.copies = of("copies", copies_.window);
  times.memsets = of("memsets", memsets_.window);
  times.costliest = kernels_by_time();
  for (const OperationTime& kernel : times.costliest) times.kernels += kernel.count;
  times.costliest.resize(std::min(times.costliest.size(), options_.listed_names));
  return times;
}

}  // namespace chexbench::measure
