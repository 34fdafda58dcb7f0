// Finds out why a training that another program runs is slow, from the log of its steps. See README.md for the
// formulas.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/text_table.hpp"
#include "results/record.hpp"
#include "verbs/diagnose/step_log.hpp"

namespace chexbench::verbs {

// The sums of one rank. They leave out the first step of each epoch, unless the log has only such steps.
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
  std::size_t index = 0;  // position in the rank's steps, from 0
  bool first_of_epoch = false;
};

// The figures of the whole training, and the sentences about them.
struct Diagnosis {
  std::string unit = "images";       // what `images` counts
  bool least_waits = false;          // the waits are lower bounds, see StepLog
  std::vector<RankDiagnosis> ranks;  // by rank
  std::size_t steps = 0;             // of all ranks, including those left out
  std::size_t left_out = 0;          // of them, left out as first steps of an epoch
  double images_per_s = 0;
  double wait_share = 0;
  std::optional<double> images_per_s_without_wait;  // empty if a rank only waits
  std::size_t epoch_starts = 0;                     // of all ranks, without the first step of each rank
  double epoch_start_extra_s = 0;                   // their time beyond their ranks' median steps, summed
  double epoch_start_wait_s = 0;                    // their waits, summed
  double epoch_start_share = 0;                     // epoch_start_extra_s as a share of the time of all steps
  std::vector<Outlier> outliers;                    // by rank, in the order of the log
  std::vector<results::Finding> findings;
};

// Diagnoses the training from its log, which must have a step. If a log does not count images, set each step's images
// to 1, and the rates are steps/s. The first finding is of the kind starved, waits, fed, or unknown (waits that are
// lower bounds, and small); needed_rate, slow_rank, epoch_starts and outliers follow if they apply, and the notes of
// the log, of the kind how_read. A pure function.
Diagnosis diagnose(const StepLog& log);

// Returns the diagnosis as "table" or "json"; both name `source` as the log. Tables are at most `width` wide where
// possible; a `brief` one shows only the first findings and the ranks that wait longest, without slow steps and means.
std::string format_diagnosis(const Diagnosis& diagnosis, const std::string& source, const std::string& format,
                             const report::LineWidth& width = {}, bool brief = false);

}  // namespace chexbench::verbs
