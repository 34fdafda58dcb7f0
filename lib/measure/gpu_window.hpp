// What a window of time showed of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/nvml.hpp"

namespace chexbench::measure {

// A throttle reason, and the share of the samples that had it, of those that told reasons.
struct ThrottleShare {
  std::string word;
  double share = 0;
};

// What a window of time showed of a GPU. Each figure rests on the samples that told it, and is empty where none did.
struct GpuWindow {
  std::size_t samples = 0;
  std::optional<double> mean_utilization;
  std::optional<double> mean_memory_utilization;
  std::optional<std::uint64_t> peak_memory_used_bytes;
  std::optional<double> mean_power_w;
  std::optional<double> lowest_sm_clock_hz;
  std::optional<double> lowest_memory_clock_hz;
  std::optional<double> highest_temperature_c;
  std::optional<double> throttled_share;  // of the samples that told reasons: with one of power or of heat
  std::vector<ThrottleShare> throttle;    // every reason, most frequent first
  // Uncorrected ECC errors between the last sample before the window and the first one after it, or its own first and
  // last where there are none: an error that comes late in a window shows in the next sample only.
  std::optional<std::uint64_t> new_uncorrected_ecc_errors;
};

// NVML's utilization tells of a time before the sample, up to this long. Where that matters, begin the window this much
// after the work.
inline constexpr double kUtilizationPeriodS = 1;

// Of the samples, ordered by time, with begin_s <= time_s <= end_s. Pure, thread-safe.
GpuWindow summarize(std::span<const GpuSample> samples, double begin_s, double end_s);

// What several windows, of GPUs that worked side by side or of one after another, come to: means of their means and
// shares, each window counting alike; the extremes of their extremes; the sums of their samples and errors. Power stays
// that of one GPU. A figure rests on the windows that have it. Pure, thread-safe.
GpuWindow combine(std::span<const GpuWindow> windows);

}  // namespace chexbench::measure
