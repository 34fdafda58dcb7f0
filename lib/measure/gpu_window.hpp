// Aggregates the samples of a GPU over a window of time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

// A throttle reason and the share of samples that had it, among the samples that reported reasons.
struct ThrottleShare {
  std::string word;
  double share = 0;
};

// Aggregates of a GPU's samples within a time window. Each figure is computed from the samples that reported it, and
// is std::nullopt if none did. Shares and utilizations are between 0 and 1.
struct GpuWindow {
  std::size_t samples = 0;
  std::optional<double> mean_utilization;
  std::optional<double> mean_memory_utilization;
  std::optional<std::uint64_t> peak_memory_used_bytes;
  std::optional<double> mean_power_w;  // from the energy counter, or else the mean of the samples
  std::optional<double> mean_sm_activity;
  std::optional<double> mean_tensor_activity;
  std::optional<double> mean_dram_activity;
  std::optional<double> lowest_sm_clock_hz;
  std::optional<double> lowest_memory_clock_hz;
  std::optional<double> highest_temperature_c;
  std::optional<double> throttled_share;  // samples with a reason of power or heat
  std::vector<ThrottleShare> throttle;    // every reason, most frequent first
  // The number of uncorrected ECC errors that appeared between the last sample before the window and the first one
  // after it, because an error late in a window shows only in the next sample. If there are no such samples, the
  // window's own first and last samples are compared.
  std::optional<std::uint64_t> new_uncorrected_ecc_errors;
};

// Returns whether power or heat holds the clocks down, by a sample's throttle reasons. Pure, thread-safe.
bool is_throttled(const std::vector<std::string>& reasons);

// The longest period before a sample, in seconds, that NVML's utilization figures cover. If that matters, begin the
// window this long after the work began.
inline constexpr double kUtilizationPeriodS = 1;

// Aggregates the samples with begin_s <= time_s <= end_s. `samples` must be ordered by time. Pure, thread-safe.
GpuWindow summarize(std::span<const GpuSample> samples, double begin_s, double end_s);

// Combines the windows of several GPUs that worked at the same time, or of several repeats: means of the means and
// shares, with equal weight for each window; extremes of the extremes; sums of samples and errors. Mean power therefore
// remains the power of one GPU. Each figure is computed from the windows that include it. Pure, thread-safe.
GpuWindow combine(std::span<const GpuWindow> windows);

}  // namespace chexbench::measure
