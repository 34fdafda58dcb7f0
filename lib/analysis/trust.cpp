#include "analysis/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/utilization.hpp"
#include "measure/page_cache.hpp"
#include "results/figures.hpp"
#include "results/rates.hpp"

namespace chexbench::analysis {
namespace {

enum class Side { none, below, above };

// Returns on which side of 1 the ratio lies, if that is clear.
Side side_of(const measure::Ratio& ratio, const std::vector<double>& a, const std::vector<double>& b) {
  if (!ratio.ci95 || measure::sign_test(a, b) > kSignLevel) return Side::none;
  if (ratio.ci95->low > 1) return Side::above;
  return ratio.ci95->high < 1 ? Side::below : Side::none;
}

std::uint64_t bad_records(const results::TrialResult& trial) {
  std::uint64_t sum = 0;
  for (const results::RepeatResult& repeat : trial.repeats) sum += repeat.bad_records;
  return sum;
}

bool cache_not_verified(const results::TrialResult& trial) {
  return std::any_of(trial.repeats.begin(), trial.repeats.end(),
                     [](const results::RepeatResult& repeat) { return measure::is_doubtful(repeat.page_cache); });
}

}  // namespace

results::Grade grade_of(const results::SharedRounds& rounds, const measure::Ratio& ratio) {
  if (!ratio.ci95) return results::Grade::sample_too_small;
  const Side side = side_of(ratio, rounds.a, rounds.b);
  if (!rounds.disturbed) return side == Side::none ? results::Grade::cannot_tell : results::Grade::told_apart;
  const Side on_a_free_machine =
      side_of(measure::paired_ratio(rounds.free_a, rounds.free_b), rounds.free_a, rounds.free_b);
  return side != Side::none && side == on_a_free_machine ? results::Grade::told_apart
                                                         : results::Grade::machine_too_busy;
}

results::Grade grade_of(const results::TrialResult& a, const results::TrialResult& b, const measure::Ratio& ratio) {
  if (results::is_buffer_fed(a) || results::is_buffer_fed(b)) return results::Grade::sample_too_small;
  return grade_of(results::shared_rounds(a, b), ratio);
}

double most_disturbed_share(const results::TrialResult& trial) {
  double most = 0;
  for (const results::RepeatResult& repeat : trial.repeats) most = std::max(most, results::disturbed_share(repeat));
  return most;
}

std::string disturbance_text(const results::TrialResult& trial) {
  const auto disturbed =
      std::ranges::count_if(trial.repeats, [](const auto& repeat) { return results::is_disturbed(repeat); });
  const bool lost = std::ranges::any_of(trial.repeats, [](const auto& repeat) { return results::lost_cores(repeat); });
  return fmt::format("other processes used up to {:.0f} % of its cores in {} of {} repeats{}",
                     100 * most_disturbed_share(trial), disturbed, trial.repeats.size(),
                     lost ? ", and its CPU mask became smaller" : "");
}

std::string limit_text(const results::TrialResult& trial) {
  const double share = results::limited_share(trial);
  if (share <= results::kDisturbedShare) return "";
  return fmt::format("a CPU limit stopped its threads for {} of the time that they could have run",
                     whole_percent(share));
}

const std::vector<Flag>& flags() {
  static const std::vector<Flag> instance{
      {"(emulated)", "no arithmetic was done: a step takes the time that the source below gives for it",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.emulated; }},
      {"(computed speed)",
       "no source gives the time of such a step: it was computed from the layers and the peak rates of the device, as "
       "the source below says",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.step_time_computed; }},
      {"(scale model)",
       "measured slower by the factor in the notes below, with as many fewer cores a rank; cores, rates and times are "
       "at full scale",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.scale_factor != 1; }},
      {"unstable",
       "the repeats differ too much for a reliable median: half the width of its 95 % interval exceeds 5 % (or "
       "measure.relative_error), or a repeat is more than 15 % away from it",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.unstable; }},
      {"disturbed",
       "other processes, a hypervisor or memory reclaim took more than 10 % of the ranks' cores or time, or the ranks' "
       "CPU mask became smaller, in too many repeats to leave them out: measure again when the machine is free",
       [](const results::TrialResult& trial, const results::Figures&) { return results::is_disturbed(trial); }},
      {"partial", "ended before all its repeats or steps were measured",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.partial; }},
      {"buffer_fed",
       "its steps used batches buffered before timing (buffered images fell by over 5 % of those trained): its true "
       "rate is lower",
       [](const results::TrialResult&, const results::Figures& figures) { return figures.buffer_fed; }},
      {"oversubscribed", "ranks x cores_per_rank exceeds the cores of this host: ranks slow each other down",
       [](const results::TrialResult& trial, const results::Figures&) { return trial.oversubscribed; }},
      {"bad_records", "images or records could not be read and were skipped; trials.csv has their number",
       [](const results::TrialResult& trial, const results::Figures&) { return bad_records(trial) > 0; }},
      {"cache?", "the state of the page cache could not be verified (files of another owner, or in memory)",
       [](const results::TrialResult& trial, const results::Figures&) { return cache_not_verified(trial); }},
  };
  return instance;
}

std::vector<std::string> flags_of(const results::TrialResult& trial, const results::Figures& figures) {
  std::vector<std::string> words;
  for (const Flag& flag : flags()) {
    if (flag.applies(trial, figures)) words.emplace_back(flag.word);
  }
  return words;
}

}  // namespace chexbench::analysis
