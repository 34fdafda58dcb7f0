#include "verbs/diagnose/diagnose.hpp"

#include <algorithm>
#include <map>

#include "measure/statistics.hpp"

namespace chexbench::verbs {
namespace {

struct RankSteps {
  std::vector<LoggedStep> all;
  std::vector<bool> first;  // of its epoch
};

std::map<int, RankSteps> by_rank(const std::vector<LoggedStep>& steps) {
  std::map<int, RankSteps> ranks;
  for (const LoggedStep& step : steps) {
    RankSteps& rank = ranks[step.rank];
    const bool single = step.steps == 1;  // a mean is of all steps, and no first one can be left out
    rank.first.push_back(single && (rank.all.empty() || rank.all.back().epoch != step.epoch));
    rank.all.push_back(step);
  }
  return ranks;
}

// Returns the steps without the first one of each epoch, or all steps if there are no others.
std::vector<LoggedStep> counted(const RankSteps& rank) {
  std::vector<LoggedStep> steps;
  for (std::size_t i = 0; i < rank.all.size(); ++i) {
    if (!rank.first[i]) steps.push_back(rank.all[i]);
  }
  return steps.empty() ? rank.all : steps;
}

RankDiagnosis diagnose_rank(int rank, const std::vector<LoggedStep>& steps) {
  RankDiagnosis diagnosis{.rank = rank};
  std::vector<double> times_s;
  for (const LoggedStep& step : steps) {
    const auto number = static_cast<double>(step.steps);
    diagnosis.steps += step.steps;
    diagnosis.images += number * step.images;
    diagnosis.time_s += number * step.step_s;
    diagnosis.wait_s += number * step.wait_s;
    times_s.push_back(step.step_s);
  }
  diagnosis.median_step_s = measure::median(times_s);
  return diagnosis;
}

void find_outliers(const RankSteps& rank, double median_s, Diagnosis& diagnosis) {
  for (std::size_t i = 0; i < rank.all.size(); ++i) {
    if (rank.all[i].steps > 1 || rank.all[i].step_s <= kOutlierFactor * median_s) continue;
    diagnosis.outliers.push_back({.step = rank.all[i], .index = i, .first_of_epoch = rank.first[i]});
  }
}

// Leaves out the first step of a rank, which also builds, compiles and tunes: that happens once and not in each epoch.
void count_epoch_starts(const RankSteps& rank, double median_s, Diagnosis& diagnosis) {
  for (std::size_t i = 1; i < rank.all.size(); ++i) {
    if (!rank.first[i]) continue;
    ++diagnosis.epoch_starts;
    diagnosis.epoch_start_wait_s += rank.all[i].wait_s;
    diagnosis.epoch_start_extra_s += std::max(0.0, rank.all[i].step_s - median_s);
  }
}

// Derives the figures of the training. Its ranks keep one pace, so the others wait for the rank that waits longest.
void sum_up(Diagnosis& diagnosis) {
  double images = 0;
  double slowest_s = 0;
  double time_s = 0;
  double wait_s = 0;
  double longest_share = 0;
  for (const RankDiagnosis& rank : diagnosis.ranks) {
    images += rank.images;
    slowest_s = std::max(slowest_s, rank.time_s);
    time_s += rank.time_s;
    wait_s += rank.wait_s;
    longest_share = std::max(longest_share, rank.wait_share());
  }
  diagnosis.images_per_s = images / slowest_s;
  diagnosis.wait_share = wait_s / time_s;
  if (longest_share < 1) diagnosis.images_per_s_without_wait = diagnosis.images_per_s / (1 - longest_share);
}

}  // namespace

Diagnosis diagnose(const StepLog& log) {
  Diagnosis diagnosis{.unit = log.counts_images ? "images" : "steps", .least_waits = log.least_waits};
  std::size_t kept = 0;
  double all_s = 0;
  for (const LoggedStep& step : log.steps) {
    diagnosis.steps += step.steps;
    all_s += static_cast<double>(step.steps) * step.step_s;
  }
  for (const auto& [number, rank] : by_rank(log.steps)) {
    const RankDiagnosis& done = diagnosis.ranks.emplace_back(diagnose_rank(number, counted(rank)));
    kept += done.steps;
    find_outliers(rank, done.median_step_s, diagnosis);
    count_epoch_starts(rank, done.median_step_s, diagnosis);
  }
  diagnosis.left_out = diagnosis.steps - kept;
  diagnosis.epoch_start_share = diagnosis.epoch_start_extra_s / all_s;
  sum_up(diagnosis);
  diagnosis.findings = diagnosis_findings(diagnosis);
  for (const std::string& note : log.notes) diagnosis.findings.push_back({.kind = "how_read", .text = note});
  return diagnosis;
}

}  // namespace chexbench::verbs
