// Summarizes the GPU samples of a repeat or a trial over its measured steps, and formats throttle reasons for files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::results {

// A period of time, by the clock now_s() of a rank's host.
struct TimeSpan {
  double begin_s = 0;
  double end_s = 0;
};

// Returns the period of a rank's measured steps: from the end of its last warm-up step to the end of its last step.
// Returns std::nullopt if the rank has no steps.
std::optional<TimeSpan> measured_window(const RepeatResult& repeat, int rank);

// Returns the samples in `window`, with the last one before it and the first one after it: measure::summarize() needs
// no others. `samples` must be ordered by time.
std::vector<measure::GpuSample> samples_around(const std::vector<measure::GpuSample>& samples, const TimeSpan& window);

// Summarizes one GPU over the measured window of a repeat. The utilizations leave out the samples of the window's first
// measure::kUtilizationPeriodS seconds, because those average over time before the window; they are empty if the window
// is that short.
measure::GpuWindow summarize_gpu(const RepeatResult& repeat, const GpuSeries& gpu);

// Summarizes all GPUs of a trial over all its repeats, each window with equal weight. Returns an empty window if no GPU
// was sampled.
measure::GpuWindow summarize_gpus(const TrialResult& trial);

// Joins throttle reasons into a single field for JSON tables: "sw_power_cap hw_slowdown", or "none".
std::string reasons_text(const std::vector<std::string>& reasons);
// Parses the output of reasons_text(). Accepts any words, including those of later drivers.
std::vector<std::string> reasons_from_text(const std::string& text);

}  // namespace chexbench::results
