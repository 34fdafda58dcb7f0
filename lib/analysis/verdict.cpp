#include "analysis/verdict.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/derive.hpp"
#include "analysis/epoch_waits.hpp"
#include "analysis/utilization.hpp"
#include "measure/statistics.hpp"
#include "results/disturbance.hpp"
#include "results/figures.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

using results::LimitedBy;

// The ratio of a rank's own time to the median of the others, for each rank and repeat. Empty with one rank.
using RankFactors = std::map<int, std::vector<double>>;

RankFactors rank_factors(const results::TrialResult& trial) {
  RankFactors factors;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    const std::map<int, double> times_s = own_times_s(*repeat);
    for (const auto& [rank, own_s] : times_s) {
      std::vector<double> others_s;
      for (const auto& [other, time_s] : times_s) {
        if (other != rank) others_s.push_back(time_s);
      }
      if (others_s.empty() || measure::median(others_s) <= 0) continue;
      factors[rank].push_back(own_s / measure::median(others_s));
    }
  }
  return factors;
}

bool is_slow(const std::vector<double>& factors) {
  const auto slow = std::ranges::count_if(factors, [](double factor) { return factor >= kSlowRank; });
  return slow >= kFewestSlowRepeats &&
         static_cast<double>(slow) >= kSlowRepeatsShare * static_cast<double>(factors.size());
}

// Returns the rank that is slow by the largest factor (the median over repeats); the limit itself stays empty.
Limit slow_rank(const RankFactors& all) {
  Limit slowest;
  for (const auto& [rank, factors] : all) {
    const double factor = measure::median(factors);
    if (is_slow(factors) && factor > slowest.rank_factor) slowest = {.rank = rank, .rank_factor = factor};
  }
  return slowest;
}

// Returns whether a rank took longer in most repeats, even if these are too few to call it slow. The others then wait
// for it in the all-reduce, which is not the network's fault.
bool are_uneven(const RankFactors& all) {
  return std::ranges::any_of(all, [](const auto& rank) { return measure::median(rank.second) >= kSlowRank; });
}

// Returns the slow rank's extra time as a share of its time.
double slow_share(const Limit& limit) { return limit.rank < 0 ? 0 : 1 - 1 / limit.rank_factor; }

// Returns the share of the time that steps wait for batches, without the extra waits of a small data set: that of
// steady steps if known, else that of the steps between the starts of epochs if the starts matter.
double judged_wait_share(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (!waits) return *figures.wait_share;
  if (waits->steady_wait_share) return *waits->steady_wait_share;
  return matters(*waits) ? waits->other_wait_share : *figures.wait_share;
}

// Returns whether the measured steps do not represent a large data set. Steps that wait without starting an epoch do
// represent it, because a shuffle that no longer fills can only shorten their waits.
bool is_sample_too_small(const results::TrialResult& trial, const results::Figures& figures) {
  const std::optional<EpochWaits> waits = epoch_waits(trial);
  if (judged_wait_share(trial, figures) >= kStarvedShare) return false;
  if (figures.buffer_fed) return true;
  if (!waits || waits->steady_wait_share) return false;
  const bool saw_whole_epoch = waits->starts > 0 && !matters(*waits);
  return !saw_whole_epoch;
}

// Returns whether a share of the time might be below the threshold `least` on an idle machine. Other processes may have
// affected the share by up to `held_up` times their mean over ranks: the number of ranks if all of it hit one rank, for
// which the others waited.
bool may_be_of_others(const results::TrialResult& trial, double share, double least, int held_up) {
  double most = 0;
  for (const results::RepeatResult* repeat : results::typical_repeats(trial))
    most = std::max(most, results::disturbed_share(*repeat));
  return most > results::kDisturbedShare && share - held_up * most < least;
}

}  // namespace

bool cores_are_missing(const results::Figures& figures) {
  return figures.cores_busy_share.value_or(0) + figures.cpu_wait_share.value_or(0) >= kFullCores;
}

Limit find_limit(const results::TrialResult& trial, const results::Figures& figures) {
  if (figures.images_per_s.value_or(0) <= 0 || !figures.wait_share) return {};
  const RankFactors factors = rank_factors(trial);
  Limit limit = slow_rank(factors);
  limit.wait_share = judged_wait_share(trial, figures);
  const auto decide = [&](LimitedBy by, const char* what, double share, double least, int held_up) {
    const bool of_others = may_be_of_others(trial, share, least, held_up);
    limit.by = of_others ? LimitedBy::machine : by;
    if (of_others) limit.suspected = what, limit.suspected_share = share;
  };
  const bool starves = spec::has_engine(trial.spec) && limit.wait_share >= kStarvedShare;
  if (limit.rank >= 0 && !(starves && limit.wait_share > slow_share(limit))) {
    decide(LimitedBy::slow_rank, "waits for its slowest rank", slow_share(limit), 1 - 1 / kSlowRank, trial.ranks);
  } else if (!spec::has_engine(trial.spec)) {
    limit.by = LimitedBy::nothing;
  } else if (is_sample_too_small(trial, figures)) {
    limit.by = LimitedBy::sample;
  } else if (starves) {
    decide(cores_are_missing(figures) ? LimitedBy::cpu : LimitedBy::input, "waits for batches", limit.wait_share,
           kStarvedShare, 1);
  } else if (figures.exposed_communication_share.value_or(0) >= kCommunicationShare && !are_uneven(factors)) {
    decide(LimitedBy::communication, "communicates", *figures.exposed_communication_share, kCommunicationShare,
           trial.ranks);
  } else if (figures.upload_share.value_or(0) >= kUploadShare) {
    limit.by = LimitedBy::upload;
  } else {
    limit.by = LimitedBy::compute;
  }
  return limit;
}

}  // namespace chexbench::analysis
