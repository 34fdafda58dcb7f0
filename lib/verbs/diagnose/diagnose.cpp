#include "verbs/diagnose/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/utilization.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/figures.hpp"

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
    const bool single = step.steps == 1;  // a mean covers all steps, so the first one cannot be left out
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

// Leaves out the first step of a rank, which also builds, compiles and tunes: that happens once, not in each epoch.
void count_epoch_starts(const RankSteps& rank, double median_s, Diagnosis& diagnosis) {
  for (std::size_t i = 1; i < rank.all.size(); ++i) {
    if (!rank.first[i]) continue;
    ++diagnosis.epoch_starts;
    diagnosis.epoch_start_wait_s += rank.all[i].wait_s;
    diagnosis.epoch_start_extra_s += std::max(0.0, rank.all[i].step_s - median_s);
  }
}

// Derives the figures of the training. Its ranks run in lockstep, so the others wait for the rank that waits longest.
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

constexpr double kWorthSaying = 0.02;     // share of the time from which epoch starts and outliers are mentioned
constexpr double kSlowRankWait = 0.05;    // a slow rank's wait share exceeds that of the others by this much
constexpr double kSlowRankFactor = 1.05;  // or whose mean step is this many times that of the others
constexpr std::size_t kFewestSteps = 15;  // of a rank, without first ones of epochs: fewer can be one burst
constexpr const char* kName = "This training";

double in_percent(double share) { return 100 * share; }

results::Finding verdict(const Diagnosis& diagnosis) {
  const double now = diagnosis.images_per_s;
  if (!diagnosis.images_per_s_without_wait) {
    return {.kind = "starved",
            .text = fmt::format("{} starves its accelerator: a rank's steps consist only of waiting for batches; the "
                                "input delivers {} {}/s.",
                                kName, rate_text(now), diagnosis.unit)};
  }
  const double most = *diagnosis.images_per_s_without_wait;
  const analysis::Waiting waiting{.name = kName,
                                  .wait_share = diagnosis.wait_share,
                                  .images_per_s = now,
                                  .images_per_s_without_wait = most,
                                  .unit = diagnosis.unit};
  if (diagnosis.wait_share >= analysis::kStarvedShare)
    return {.kind = "starved", .text = analysis::starved_sentence(waiting)};
  if (diagnosis.least_waits) {
    return {.kind = "unknown",
            .text = fmt::format("{} waits for batches that are later than others for {:.1f} % of the time, {} {}/s; "
                                "the log cannot show whether every batch is late.",
                                kName, in_percent(diagnosis.wait_share), rate_text(now), diagnosis.unit)};
  }
  if (diagnosis.wait_share <= results::kFedShare) return {.kind = "fed", .text = analysis::fed_sentence(waiting)};
  return {
      .kind = "waits",
      .text = fmt::format("{} waits for its input for {:.0f} % of the time: {} {}/s; at most {} without the "
                          "wait.",
                          kName, in_percent(diagnosis.wait_share), rate_text(now), diagnosis.unit, rate_text(most))};
}

// If the accelerator waits for its input, its rate is exactly the training rate.
void find_needed_rate(const Diagnosis& diagnosis, std::vector<results::Finding>& findings) {
  const std::string& kind = findings.front().kind;
  if (kind == "fed" || kind == "unknown" || !diagnosis.images_per_s_without_wait) return;
  const double most = *diagnosis.images_per_s_without_wait;
  const auto ranks = static_cast<double>(diagnosis.ranks.size());
  const std::string each = ranks == 1 ? "" : fmt::format(" ({} a rank)", rate_text(most / ranks));
  findings.push_back(
      {.kind = "needed_rate",
       .text = fmt::format("The input must deliver {} {}/s{} to feed it, {} x what it delivers now.", rate_text(most),
                           diagnosis.unit, each, rate_text(most / diagnosis.images_per_s))});
}

void find_epoch_starts(const Diagnosis& diagnosis, std::vector<results::Finding>& findings) {
  if (diagnosis.epoch_start_share < kWorthSaying) return;
  const double each_s = diagnosis.epoch_start_extra_s / static_cast<double>(diagnosis.epoch_starts);
  const bool waits = diagnosis.epoch_start_wait_s > diagnosis.epoch_start_extra_s / 2;
  const char* advice =
      waits ? "an input that restarts each epoch refills its buffers; keep its workers (PyTorch: "
              "persistent_workers=True), or repeat the data set inside it (tf.data: repeat(), and steps_per_epoch)"
            : "and little of it is wait: look at what runs between epochs";
  findings.push_back({.kind = "epoch_starts",
                      .text = fmt::format("The first step of an epoch takes {:.2g} s more than the others, {:.0f} % of "
                                          "all time: {}.",
                                          each_s, in_percent(diagnosis.epoch_start_share), advice)});
}

void find_outliers(const Diagnosis& diagnosis, std::vector<results::Finding>& findings) {
  double time_s = 0;
  double wait_s = 0;
  std::size_t number = 0;
  for (const Outlier& outlier : diagnosis.outliers) {
    if (outlier.first_of_epoch) continue;
    ++number;
    time_s += outlier.step.step_s;
    wait_s += outlier.step.wait_s;
  }
  double all_s = 0;
  for (const RankDiagnosis& rank : diagnosis.ranks) all_s += rank.time_s;
  if (time_s < kWorthSaying * all_s) return;
  findings.push_back(
      {.kind = "outliers",
       .text = fmt::format(
           "{} of {} steps take more than {:.0f} times the median: {:.0f} % of all time, of which {:.0f} % is "
           "wait{}.",
           number, diagnosis.steps - diagnosis.left_out, kOutlierFactor, in_percent(time_s / all_s),
           in_percent(wait_s / time_s),
           wait_s > time_s / 2 ? ": batches come in bursts, or storage stalls"
                               : ": look at what runs between steps (checkpoints, validation, logging)")});
}

// Returns the median over all ranks except one.
template <class Get>
double of_the_others(const Diagnosis& diagnosis, const RankDiagnosis& one, Get get) {
  std::vector<double> values;
  for (const RankDiagnosis& rank : diagnosis.ranks) {
    if (&rank != &one) values.push_back(get(rank));
  }
  return measure::median(values);
}

void find_slow_rank(const Diagnosis& diagnosis, std::vector<results::Finding>& findings) {
  if (diagnosis.ranks.size() < 2) return;
  const auto wait_share = [](const RankDiagnosis& rank) { return rank.wait_share(); };
  const auto step_s = [](const RankDiagnosis& rank) { return rank.mean_step_s(); };
  const RankDiagnosis& waiting = *std::ranges::max_element(diagnosis.ranks, {}, wait_share);
  const double other_share = of_the_others(diagnosis, waiting, wait_share);
  if (waiting.wait_share() - other_share >= kSlowRankWait) {
    findings.push_back(
        {.kind = "slow_rank",
         .text =
             fmt::format("Rank {} waits for its input for {:.0f} % of the time, the others for {:.0f} % (median): its "
                         "input is slower, and the others wait for it where gradients are summed.",
                         waiting.rank, in_percent(waiting.wait_share()), in_percent(other_share))});
    return;
  }
  const RankDiagnosis& slow = *std::ranges::max_element(diagnosis.ranks, {}, step_s);
  const double other_s = of_the_others(diagnosis, slow, step_s);
  if (slow.mean_step_s() < kSlowRankFactor * other_s) return;
  findings.push_back(
      {.kind = "slow_rank",
       .text = fmt::format("Rank {} takes {:.3g} s a step, the others {:.3g} s (median), and does not wait "
                           "for its input longer than they do: look at its accelerator.",
                           slow.rank, slow.mean_step_s(), other_s)});
}

// Comes first, because it makes all other findings uncertain.
void find_small_sample(const Diagnosis& diagnosis, std::vector<results::Finding>& findings) {
  const std::size_t fewest = std::ranges::min(diagnosis.ranks, {}, &RankDiagnosis::steps).steps;
  if (fewest >= kFewestSteps) return;
  findings.insert(
      findings.begin(),
      {.kind = "sample_too_small",
       .text = fmt::format("The sample is too small to be sure of what follows: a rank has {} step{} besides "
                           "the first ones of epochs, and loaders deliver in bursts; log at least {}.",
                           fewest, fewest == 1 ? "" : "s", kFewestSteps)});
  for (results::Finding& finding : findings) finding.grade = results::Grade::sample_too_small;
}

std::vector<results::Finding> findings_of(const Diagnosis& diagnosis) {
  std::vector<results::Finding> findings{verdict(diagnosis)};
  find_needed_rate(diagnosis, findings);
  find_slow_rank(diagnosis, findings);
  find_epoch_starts(diagnosis, findings);
  find_outliers(diagnosis, findings);
  find_small_sample(diagnosis, findings);
  return findings;
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
  diagnosis.findings = findings_of(diagnosis);
  for (const std::string& note : log.notes) diagnosis.findings.push_back({.kind = "how_read", .text = note});
  return diagnosis;
}

}  // namespace chexbench::verbs
