// Makes the JSON from which the scripts of report.html build its tables and charts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/derive.hpp"
#include "results/record.hpp"

namespace chexbench::report {

// A curve of a repeat has at most this many points in the page; see report.json for all values.
inline constexpr std::size_t kMostPoints = 300;

// Returns one JSON object. Environment, findings, ablations and figures are as in report.json, except that the
// costliest findings come first. The answer is added; its command reads the results in ".", the page's folder. Each
// trial also has its label, the index of the first trial of its arm, flags, resolved spec, times by rank, counters by
// op, scores by label with their curves, and the curves of its repeats.
std::string page_data(const analysis::Evaluation& evaluation);

// The wall times of a repeat's steps, in seconds. Each point covers all ranks and `steps_per_point` consecutive steps.
struct StepCurve {
  std::size_t steps_per_point = 1;
  std::vector<double> median_s;
  std::vector<double> slowest_s;
};
// Returns a curve of at most `most_points` points, which must be positive.
StepCurve step_curve(const results::RepeatResult& repeat, std::size_t most_points);

// A GPU's utilization between 0 and 1, in the measured window. Each point is the mean over consecutive samples; samples
// without a utilization are left out.
struct UtilizationCurve {
  std::vector<double> time_s;  // since the start of the measured window
  std::vector<double> utilization;
};
// Returns a curve of at most `most_points` points, which must be positive. It is empty if the GPU's rank has no steps.
UtilizationCurve utilization_curve(const results::RepeatResult& repeat, const results::GpuSeries& gpu,
                                   std::size_t most_points);

// How many elements were ready in the queue of one op when each sampled step ended: the mean over ranks, by step.
struct QueueCurve {
  std::string op;
  std::vector<double> depth;
};
// Returns the curves of the ops that have a queue, in the order of the op list.
std::vector<QueueCurve> queue_curves(const results::RepeatResult& repeat);

// The times of one rank's steps, summed over all repeats.
struct RankTime {
  int rank = 0;
  measure::StepTimings sum;
};
// Returns the sums over the typical repeats of all ranks, in ascending order.
std::vector<RankTime> time_by_rank(const results::TrialResult& trial);

}  // namespace chexbench::report
