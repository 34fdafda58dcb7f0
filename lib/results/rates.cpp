#include "results/rates.hpp"

#include <algorithm>

#include "measure/statistics.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"

namespace chexbench::results {
namespace {

// The repeats of two trials in one round.
struct Round {
  const RepeatResult *a, *b;
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Returns the share of the ranks' runnable time that they spent waiting for a core, `wait_s` in all.
double share_of_waits(double wait_s, const Disturbance& by) { return share(wait_s, wait_s + by.own_cpu_s); }

// Returns the share of the ranks' runnable time that other processes took. Others on cores that the ranks leave idle
// take nothing, threads of a rank that wait for each other's cores or for a CPU limit lose nothing to others, and ranks
// that hardly run lose no more than the time that their threads waited, so the smallest of the shares counts. Each rank
// counts the cgroup's whole throttled time, so the mean over ranks is subtracted.
double share_of_others(const Disturbance& by, int ranks) {
  const double wait_s = std::max(0.0, by.own_wait_s - by.throttled_s / ranks);
  return std::min(
      {share_of_waits(wait_s, by), share(by.others_s, by.others_s + by.own_cpu_s), share(wait_s, by.span_s)});
}

}  // namespace

std::vector<double> rates(const TrialResult& trial) {
  std::vector<double> values;
  for (const RepeatResult* repeat : counted_repeats(trial)) values.push_back(repeat->images_per_s);
  return values;
}

double median_rate(const TrialResult& trial) { return measure::median(rates(trial)); }

std::vector<const RepeatResult*> typical_repeats(const TrialResult& trial) {
  std::vector<const RepeatResult*> repeats = counted_repeats(trial);
  std::ranges::stable_sort(repeats, {}, &RepeatResult::images_per_s);
  const std::size_t beside = repeats.empty() ? 0 : (repeats.size() - 1) / 2;
  return {repeats.begin() + static_cast<std::ptrdiff_t>(beside), repeats.end() - static_cast<std::ptrdiff_t>(beside)};
}

double typical_rate(const TrialResult& trial) {
  const std::vector<const RepeatResult*> repeats = typical_repeats(trial);
  double time_per_image_s = 0;  // repeats of a trial have equally many images, hence the harmonic mean
  for (const RepeatResult* repeat : repeats) time_per_image_s += 1 / repeat->images_per_s;
  return static_cast<double>(repeats.size()) / time_per_image_s;
}

bool is_buffer_fed(const TrialResult& trial) {
  if (!spec::uses_pipeline(trial.spec)) return false;
  if (std::ranges::any_of(typical_repeats(trial), &RepeatResult::buffer_fed)) return true;
  const std::vector<const RepeatResult*> repeats = counted_repeats(trial);
  const auto fed = std::ranges::count_if(repeats, &RepeatResult::buffer_fed);
  return static_cast<double>(fed) > kMostBufferFed * static_cast<double>(repeats.size());
}

double free_rate(const RepeatResult& repeat, int cores) {
  constexpr double kMostTaken = 0.9;
  return repeat.images_per_s / (1 - std::min(cores * disturbed_share(repeat), kMostTaken));
}

std::size_t measured_steps(const TrialResult& trial) {
  if (trial.spec.training.epochs == 0 || trial.repeats.empty())
    return static_cast<std::size_t>(trial.spec.measure.steps);
  return trial.repeats.front().steps.size() / static_cast<std::size_t>(trial.ranks);
}

SharedRounds shared_rounds(const TrialResult& a, const TrialResult& b) {
  std::vector<Round> all, undisturbed;
  for (const RepeatResult& repeat : a.repeats) {
    const auto same_round = std::ranges::find(b.repeats, repeat.repeat, &RepeatResult::repeat);
    if (same_round == b.repeats.end()) continue;
    all.push_back({.a = &repeat, .b = &*same_round});
    if (!is_disturbed(repeat) && !is_disturbed(*same_round)) undisturbed.push_back(all.back());
  }
  const bool leaves_out = undisturbed.size() >= std::min(enough_repeats(a), enough_repeats(b));
  SharedRounds rounds{.disturbed = !leaves_out && undisturbed.size() < all.size()};
  for (const auto& [of_a, of_b] : leaves_out ? undisturbed : all) {
    rounds.a.push_back(of_a->images_per_s);
    rounds.b.push_back(of_b->images_per_s);
    rounds.free_a.push_back(free_rate(*of_a));
    rounds.free_b.push_back(free_rate(*of_b));
  }
  return rounds;
}

std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b) {
  const SharedRounds rounds = shared_rounds(a, b);
  if (rounds.a.empty() || measure::median(rounds.b) <= 0) return std::nullopt;
  return measure::paired_ratio(rounds.a, rounds.b, a.spec.measure.seed);
}

double disturbed_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  const int ranks = repeat.steps.empty() ? 1 : repeat.steps.back().rank + 1;
  return std::min(1.0, share_of_others(by, ranks) + share(by.steal_s + by.lost_core_s, by.core_s) +
                           share(by.memory_stall_s, by.span_s));
}

// The kernel adds up how long it stopped each core, and each rank counts all cores of its cgroup, including those of
// other ranks; but a stopped thread waits for a core, so the limit took at most the share of the waits.
double limited_share(const RepeatResult& repeat) {
  const Disturbance& by = repeat.disturbance;
  return std::min(share_of_waits(by.own_wait_s, by), share(by.throttled_s, by.throttled_s + by.own_cpu_s));
}

double limited_share(const TrialResult& trial) {
  std::vector<double> shares;
  for (const RepeatResult* repeat : counted_repeats(trial)) shares.push_back(limited_share(*repeat));
  return shares.empty() ? 0 : measure::median(shares);
}

bool is_disturbed(const RepeatResult& repeat) {
  return disturbed_share(repeat) > kDisturbedShare || lost_cores(repeat);
}

bool lost_cores(const RepeatResult& repeat) { return repeat.disturbance.lost_core_s > 0; }

std::size_t enough_repeats(const TrialResult& trial) {
  return static_cast<std::size_t>(std::min(spec::kRepeatsForInterval, trial.spec.measure.repeats));
}

std::vector<const RepeatResult*> counted_repeats(const TrialResult& trial) {
  std::vector<const RepeatResult*> all, undisturbed;
  for (const RepeatResult& repeat : trial.repeats) {
    all.push_back(&repeat);
    if (!is_disturbed(repeat)) undisturbed.push_back(&repeat);
  }
  return undisturbed.size() >= enough_repeats(trial) ? undisturbed : all;
}

bool is_disturbed(const TrialResult& trial) {
  return std::ranges::any_of(counted_repeats(trial), [](const RepeatResult* repeat) { return is_disturbed(*repeat); });
}

}  // namespace chexbench::results
