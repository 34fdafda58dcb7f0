// Decides when a trial has been repeated often enough, and whether a signal ends the run.
#pragma once

#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "pipeline/pipeline.hpp"
#include "results/record.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::bench {

// Returns half the width of the 95 % interval of the median, divided by the median; infinity for fewer than five
// repeats.
double relative_error(const std::vector<double>& images_per_s);

// The time spent in repeats, in seconds, including earlier runs.
struct TimeSpent {
  double trial_s = 0;
  double all_s = 0;  // of all trials of the run
  double share = 1;  // of measure.max_total_seconds that these may use; the rest is for later trials
};

// Returns the time that the repeats of `trial` and of all trials of the report have taken.
TimeSpent time_spent(const results::Report& report, const results::TrialResult& trial, double share);

// Returns whether the share of measure.max_total_seconds is used up.
bool is_total_spent(const spec::MeasureSpec& measure, const TimeSpent& spent);

// Returns whether the trial ends after the repeats so far: because measure.repeats is reached, the time of the trial or
// of the run is used up, or measure.relative_error is reached. Never before the first repeat.
bool is_finished(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s, const TimeSpent& spent);

// Returns whether a time limit ended a finished trial before it reached its repeats or relative error.
bool is_cut_short(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s);

// Returns whether the repeats of a finished trial differ so much that their median is doubtful: a requested relative
// error was not reached; or the relative error is above kStableError, if there are enough repeats to compute it; or one
// repeat is farther than kOutlier from the median.
inline constexpr double kStableError = 0.05;
inline constexpr double kOutlier = 0.15;  // of the median
bool is_unstable(const spec::MeasureSpec& measure, const std::vector<double>& images_per_s);

// Returns whether a finished trial needs another round of its group, with a repeat of each trial: because it is
// unstable, or others disturbed it so often that fewer than measure.repeats count. Never after
// measure.extra_repeats further repeats (kCheapExtra times as many if these take less than kCheapExtraSeconds) or once
// the time of the trial or of the run is used up; nor if measure.repeats gives no interval, or measure.relative_error
// or training.epochs determines when the trial ends.
inline constexpr double kCheapExtraSeconds = 20;
inline constexpr int kCheapExtra = 3;
bool wants_extra_round(const results::TrialResult& trial, const TimeSpent& spent);

// Stops a pipeline after SIGINT or SIGTERM, or at a set time, so that a loop that is blocked in next() wakes up.
// Watches from construction to destruction, on a separate thread. The pipeline must outlive it.
class InterruptWatch {
 public:
  explicit InterruptWatch(pipeline::Pipeline& pipeline, std::optional<double> stop_at_s = {});

 private:
  std::jthread thread_;
};

}  // namespace chexbench::bench
