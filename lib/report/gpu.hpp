// What the samples of GPUs come to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// A stretch of time by now_s() of a rank's host.
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};

// When a rank's measured steps ran: from the end of its last warm-up step to the end of its last step. Empty where it
// has no steps.
std::optional<TimeSpan> measured_window(const RepeatResult& repeat, int rank);

// The samples in `window`, ordered by time, the last one before it and the first one after it: all that
// measure::summarize() of the window rests on.
std::vector<measure::GpuSample> samples_around(const std::vector<measure::GpuSample>& samples, const TimeSpan& window);

// One GPU in the measured window of a repeat. The utilizations leave out what was sampled in the window's first second,
// which tells of the time before: they are empty where the window is no longer than that.
measure::GpuWindow summarize_gpu(const RepeatResult& repeat, const GpuSeries& gpu);

// All GPUs of a trial in all its repeats.
measure::GpuWindow summarize_gpus(const TrialResult& trial);

// Throttle reasons in one field of a table, "sw_power_cap hw_slowdown", or "none", and back.
std::string reasons_text(const std::vector<std::string>& reasons);
std::vector<std::string> reasons_from_text(const std::string& text);

// "sw_power_cap 0.42; hw_slowdown 0.01"
std::string shares_text(const std::vector<measure::ThrottleShare>& shares);

}  // namespace chexbench::report
