// Why a training that chexbench does not run is slow, from the log of its steps. Formulas: README.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/record.hpp"
#include "report/step_log.hpp"

namespace chexbench::report {

// One rank, the first steps of its epochs left out.
struct RankDiagnosis {
  int rank = 0;
  std::size_t steps = 0;
  double images = 0;
  double time_s = 0;
  double wait_s = 0;
  double median_step_s = 0;

  double wait_share() const { return wait_s / time_s; }
  double mean_step_s() const { return time_s / static_cast<double>(steps); }
};

// A step that took more than kOutlierFactor times the median of its rank.
inline constexpr double kOutlierFactor = 3;
struct Outlier {
  LoggedStep step;
  std::size_t index = 0;  // of the rank's steps, from 0
  bool first_of_epoch = false;
};

struct Diagnosis {
  std::vector<RankDiagnosis> ranks;  // by rank
  std::size_t steps = 0;             // of all ranks, all of them
  std::size_t left_out = 0;          // of those: first ones of an epoch
  double images_per_s = 0;
  double wait_share = 0;
  std::optional<double> images_per_s_without_wait;  // empty where a rank does nothing but wait
  std::size_t epoch_starts = 0;                     // of all ranks, but for the first step of each
  double epoch_start_extra_s = 0;                   // what those took beyond their ranks' median steps, summed
  double epoch_start_wait_s = 0;                    // what those waited, summed
  double epoch_start_share = 0;                     // of the time of all steps
  std::vector<Outlier> outliers;                    // by rank, in the order of the log
  std::vector<Finding> findings;
};

// `steps` holds at least one. Pure.
Diagnosis diagnose(const std::vector<LoggedStep>& steps);

// The sentences of a diagnosis whose figures are there: starved, waits or fed; needed_rate, epoch_starts, outliers,
// slow_rank.
std::vector<Finding> diagnosis_findings(const Diagnosis& diagnosis);

// "table" or "json"; `source` says in them what was read. @throws SpecError for another format
std::string format_diagnosis(const Diagnosis& diagnosis, const std::string& source, const std::string& format);

}  // namespace chexbench::report
