// What happened over time, thinned out to what a page can show.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::report {

// Wall times of a repeat's steps, each point over all ranks and `steps_per_point` steps that follow each other.
struct StepCurve {
  std::size_t steps_per_point = 1;
  std::vector<double> median_s;
  std::vector<double> slowest_s;
};
StepCurve step_curve(const results::RepeatResult& repeat, std::size_t most_points);

// A GPU's utilization, 0 to 1; each point the mean over samples that follow each other. time_s counts from the begin of
// the measured window: what was sampled before it is left out, and so is what NVML did not tell.
struct UtilizationCurve {
  std::vector<double> time_s;
  std::vector<double> utilization;
};
UtilizationCurve utilization_curve(const results::RepeatResult& repeat, const results::GpuSeries& gpu,
                                   std::size_t most_points);

// How full the queue of one op was as each sampled step ended: the mean over ranks, by step.
struct QueueCurve {
  std::string op;
  std::vector<double> depth;
};
// Of the ops that have a queue, in their order.
std::vector<QueueCurve> queue_curves(const results::RepeatResult& repeat);

// Where the time of one rank went, over all repeats.
struct RankTime {
  int rank = 0;
  measure::StepTimings sum;
};
// By rank, ascending.
std::vector<RankTime> time_by_rank(const results::TrialResult& trial);

}  // namespace chexbench::report
