#include "results/rates.hpp"

#include <algorithm>

#include "results/disturbance.hpp"
#include "spec/keys.hpp"

namespace chexbench::results {
namespace {

// The repeats of two trials in one round.
struct Round {
  const RepeatResult *a, *b;
};

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

}  // namespace chexbench::results
