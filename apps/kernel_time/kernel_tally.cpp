#include "kernel_time/kernel_tally.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/json_text.hpp"

namespace chexbench::measure {
namespace {

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

// Returns the name unchanged if it is not a mangled C++ name.
std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

struct Window {
  std::uint64_t begin_ns = 0, end_ns = 0;
  bool has(std::uint64_t ns) const { return begin_ns <= ns && ns < end_ns; }
};

// The operations that began in the window.
template <typename Operations>
OperationTime sum_of(const char* name, const Operations& operations, const Window& window) {
  OperationTime sum{.name = name};
  for (const auto& operation : operations) {
    if (!window.has(operation.begin_ns)) continue;
    ++sum.count;
    sum.time_s += seconds(operation.end_ns - operation.begin_ns);
  }
  return sum;
}

}  // namespace

// CUPTI leaves times at 0 if its memory for them was full.
void KernelTally::add(const Operation& operation, std::vector<Operation>& to) {
  if (operation.begin_ns == 0 || operation.end_ns < operation.begin_ns) return lose(1);
  to.push_back(operation);
}

void KernelTally::kernel(std::string_view name, std::uint64_t begin_ns, std::uint64_t end_ns) {
  auto found = names_.find(name);
  if (found == names_.end()) found = names_.emplace(name, names_.size()).first;
  add({begin_ns, end_ns, found->second}, kernels_);
}

KernelTimes KernelTally::times() const {
  KernelTimes times{.lost_records = lost_records_, .exact = lost_records_ == 0};
  std::vector<OperationTime> by_name(names_.size());
  std::vector<bool> begins_step(names_.size());
  for (const auto& [name, number] : names_) {
    by_name[number].name = name;
    begins_step[number] = !options_.step_kernel.empty() && name.find(options_.step_kernel) != std::string::npos;
  }
  std::vector<Operation> kernels = kernels_;
  std::ranges::stable_sort(kernels, {}, &Operation::begin_ns);
  std::vector<std::uint64_t> steps_ns;
  for (const Operation& kernel : kernels) {
    if (begins_step[kernel.name]) steps_ns.push_back(kernel.begin_ns);
  }
  if (steps_ns.size() < options_.skipped_steps + 2) {
    times.problem = fmt::format("two steps are needed after {} of warm-up: of kernels with '{}' in their names, {} ran",
                                options_.skipped_steps, options_.step_kernel, steps_ns.size());
    return times;
  }
  const Window window{steps_ns[options_.skipped_steps], steps_ns.back()};
  std::uint64_t covered_until_ns = window.begin_ns;
  for (const Operation& kernel : kernels) {
    const std::uint64_t own_begin_ns = std::max(kernel.begin_ns, covered_until_ns);
    covered_until_ns = std::max(covered_until_ns, std::min(kernel.end_ns, window.end_ns));
    const double own_s = covered_until_ns > own_begin_ns ? seconds(covered_until_ns - own_begin_ns) : 0;
    times.kernel_s += own_s;
    if (!window.has(kernel.begin_ns)) continue;
    OperationTime& sum = by_name[kernel.name];
    ++sum.count;
    sum.time_s += seconds(kernel.end_ns - kernel.begin_ns);
    sum.own_s += own_s;
    ++times.kernels;
  }
  times.steps = steps_ns.size() - options_.skipped_steps - 1;
  times.window_s = seconds(window.end_ns - window.begin_ns);
  times.copies = sum_of("copies", copies_, window);
  times.memsets = sum_of("memsets", memsets_, window);
  std::erase_if(by_name, [](const OperationTime& sum) { return sum.count == 0; });
  std::ranges::sort(by_name, {}, &OperationTime::name);
  std::ranges::stable_sort(by_name, std::ranges::greater{}, &OperationTime::own_s);
  by_name.resize(std::min(by_name.size(), options_.listed_names));
  times.costliest = std::move(by_name);
  return times;
}

std::string to_json(const KernelTimes& times) {
  std::string json = fmt::format(
      R"({{"problem": {}, "exact": {}, "lost_records": {}, "steps": {}, "window_s": {:.9f}, "kernel_s": {:.9f}, )"
      R"("kernels": {}, "copies": {}, "copies_s": {:.9f}, "memsets": {}, "memsets_s": {:.9f}, "costliest": [)",
      json_text(times.problem), times.exact, times.lost_records, times.steps, times.window_s, times.kernel_s,
      times.kernels, times.copies.count, times.copies.time_s, times.memsets.count, times.memsets.time_s);
  const char* comma = "";
  for (const OperationTime& kernel : times.costliest) {
    json += fmt::format("{}\n  {{\"name\": {}, \"count\": {}, \"time_s\": {:.9f}, \"own_s\": {:.9f}}}", comma,
                        json_text(demangled(kernel.name)), kernel.count, kernel.time_s, kernel.own_s);
    comma = ",";
  }
  return json + "]}\n";
}

}  // namespace chexbench::measure
