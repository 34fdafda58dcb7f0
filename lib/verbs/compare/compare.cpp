#include "verbs/compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/trust.hpp"
#include "core/errors.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::verbs {
namespace {

// The rise of crowded_share() from which a loss is attributed to missing cores.
constexpr double kCrowded = 0.10;

// All trials of one arm on one side: one from each run that has the arm.
struct MeasuredArm {
  std::string key;
  ArmTrials trials;

  const results::TrialResult& first() const { return *trials.front(); }
};

bool was_measured(const results::TrialResult& trial) { return !trial.repeats.empty(); }

void check_rates(const results::TrialResult& trial, const std::string& side) {
  for (const results::RepeatResult& repeat : trial.repeats) {
    if (std::isfinite(repeat.images_per_s) && repeat.images_per_s > 0) continue;
    throw DataError(
        fmt::format("{}: repeat {} of trial '{}' has images_per_s {}, which is not a measured rate; measure it "
                    "again",
                    side, repeat.repeat, trial.name, repeat.images_per_s));
  }
}

// Returns the arms of a side in the order of their first trials.
// @throws DataError if there are none, the runs are of several experiments, or a rate cannot have been measured
std::vector<MeasuredArm> arms_of(const Side& side) {
  std::vector<MeasuredArm> arms;
  for (const results::Report& run : side.runs) {
    if (run.experiment != side.runs.front().experiment) {
      throw DataError(fmt::format("{}: holds runs of several experiments, '{}' and '{}'; give a folder of one",
                                  side.name, side.runs.front().experiment, run.experiment));
    }
    // A sweep over data.root has several arms of the same key. They are numbered, so that the first one of each run is
    // matched with the first one of the other runs.
    std::map<std::string, int> seen;
    for (const results::TrialResult& trial : run.trials) {
      if (!was_measured(trial)) continue;
      check_rates(trial, side.name);
      std::string key = arm_key(trial);
      key += fmt::format("\n{}", ++seen[key]);
      const auto known = std::ranges::find(arms, key, &MeasuredArm::key);
      (known == arms.end() ? arms.emplace_back(MeasuredArm{.key = key, .trials = {}}) : *known)
          .trials.push_back(&trial);
    }
  }
  if (arms.empty())
    throw DataError(fmt::format("{}: no trial was measured in it, so there is nothing to compare", side.name));
  return arms;
}

void append(const std::vector<double>& values, std::vector<double>& to) {
  to.insert(to.end(), values.begin(), values.end());
}

Sample sample_of(const MeasuredArm& arm, bool by_runs) {
  Sample sample;
  for (const results::TrialResult* trial : arm.trials) {
    const std::vector<double> measured = results::rates(*trial);
    std::vector<double> free;
    for (const results::RepeatResult* repeat : results::counted_repeats(*trial))
      free.push_back(results::free_rate(*repeat, trial->cores_per_rank));
    append(by_runs ? std::vector{measure::median(measured)} : measured, sample.images_per_s);
    append(by_runs ? std::vector{measure::median(free)} : free, sample.free);
  }
  return sample;
}

bool is_disturbed(const MeasuredArm& arm) {
  return std::ranges::any_of(arm.trials,
                             [](const results::TrialResult* trial) { return results::is_disturbed(*trial); });
}

// Returns the median over all repeats; 0 if it was not measured.
double cpu_s_per_image(const MeasuredArm& arm) {
  std::vector<double> values;
  for (const results::TrialResult* trial : arm.trials) {
    for (const results::RepeatResult& repeat : trial->repeats) {
      values.push_back(repeat.process_cpu_s / std::max(1.0, static_cast<double>(repeat.images_trained)));
    }
  }
  return measure::median(values);
}

std::optional<double> cpu_ratio_of(const MeasuredArm& base, const MeasuredArm& other) {
  const double below = cpu_s_per_image(base);
  const double above = cpu_s_per_image(other);
  return below > 0 && above > 0 ? std::optional(above / below) : std::nullopt;
}

// Returns the share of time in which runnable threads had no core.
double crowded_share(const MeasuredArm& arm) {
  double wait_s = 0;
  double ran_s = 0;
  for (const results::TrialResult* trial : arm.trials) {
    for (const results::RepeatResult& repeat : trial->repeats) {
      wait_s += repeat.cpu_wait_s;
      ran_s += repeat.process_cpu_s;
    }
  }
  return wait_s > 0 ? wait_s / (wait_s + ran_s) : 0;
}

// If the time for an image changes and its CPU time does not, the waiting changed. The cause may be this program or the
// machine, so the note does not change the verdict.
std::string waiting_note(const ComparedArm& arm, const MeasuredArm& base, const MeasuredArm& other) {
  const bool is_loss = arm.verdict == Verdict::worse;
  if ((!is_loss && arm.verdict != Verdict::better) || !arm.cpu_ratio) return "";
  const double time_change = 1 / arm.ratio->value - 1;
  if ((*arm.cpu_ratio - 1) / time_change > 0.5) return "";
  const double before = crowded_share(base);
  const double after = crowded_share(other);
  const std::string cause =
      std::abs(after - before) >= kCrowded
          ? fmt::format("its threads had no core in {:.0f} % of the time that they could run, {:.0f} % in the base",
                        100 * after, 100 * before)
          : "for busy cores, for storage, or for each other";
  return fmt::format("an image costs {:.2f} x the CPU time, so most of the {} is {}waiting: {}", *arm.cpu_ratio,
                     is_loss ? "loss" : "gain", is_loss ? "" : "less ", cause);
}

// Returns whether the verdict holds regardless of the load from other processes on either side. The true rate of a side
// is between the measured rate and `free`; the runs were separate, so that they may be at opposite ends.
bool holds_without_others(const ComparedArm& arm, double threshold) {
  const auto verdict = [&](const std::vector<double>& other, const std::vector<double>& base) {
    return judge(measure::unpaired_ratio(other, base), threshold);
  };
  return verdict(arm.other.images_per_s, arm.base.free) == arm.verdict &&
         verdict(arm.other.free, arm.base.images_per_s) == arm.verdict;
}

// Judges the arm by its measured rates. If other processes used a side's cores, they may have caused the change, or
// hidden it.
void judge_arm(ComparedArm& arm, bool disturbed, double threshold) {
  arm.ratio = measure::unpaired_ratio(arm.other.images_per_s, arm.base.images_per_s);
  arm.verdict = judge(*arm.ratio, threshold);
  if (!arm.ratio->ci95) {
    arm.grade = results::Grade::sample_too_small;
  } else if (arm.verdict == Verdict::undecided) {
    arm.grade = disturbed ? results::Grade::machine_too_busy : results::Grade::cannot_tell;
  }
  if (!disturbed || holds_without_others(arm, threshold)) return;
  arm.verdict = Verdict::undecided;
  arm.grade = results::Grade::machine_too_busy;
}

std::string certainty_note(const ComparedArm& arm, const RunComparison& comparison) {
  const double threshold = comparison.options.threshold;
  const char* unit = comparison.by_runs ? "runs" : "repeats";
  if (arm.grade == results::Grade::machine_too_busy) return "machine too busy to tell: measure again";
  if (!arm.ratio->ci95) return fmt::format("by the threshold alone: {} {} on a side", spec::kTooFew, unit);
  if (arm.verdict != Verdict::undecided) return "";
  const bool loss_possible = arm.ratio->ci95->low < 1 - threshold;
  const bool gain_possible = arm.ratio->ci95->high > 1 + threshold;
  return fmt::format("too noisy to rule out a {} of {:g} %: measure more {}",
                     !gain_possible   ? "loss"
                     : !loss_possible ? "gain"
                                      : "loss or a gain",
                     100 * threshold, unit);
}

// Returns the flags of a run's table, except for emulation, which is in the arm's name.
std::string flags_note(const char* side, const MeasuredArm& arm) {
  std::set<std::string> words;
  for (const results::TrialResult* trial : arm.trials) {
    for (const std::string& word : analysis::flags_of(*trial, analysis::derive_figures(*trial, {*trial})))
      words.insert(word);
  }
  words.erase("(emulated)");
  words.erase("(scale model)");
  return words.empty() ? "" : fmt::format("{}: {}", side, fmt::join(words, ", "));
}

std::string joined(std::initializer_list<std::string> notes) {
  std::string all;
  for (const std::string& note : notes) {
    if (!note.empty()) all += (all.empty() ? "" : "; ") + note;
  }
  return all;
}

// Returns the differences in the spec and in the source of an engine's times, which no option permits.
std::vector<Difference> obstacles(const MeasuredArm& base, const MeasuredArm& other) {
  std::vector<Difference> found = spec_differences(base.first(), other.first());
  const std::vector<Difference> sources = source_differences(base.trials, other.trials);
  found.insert(found.end(), sources.begin(), sources.end());
  return found;
}

// Moves the differences that --vary declares from one list to another.
void move_declared(const std::vector<std::string>& vary, std::vector<Difference>& from, std::vector<Difference>& to) {
  const auto rest = std::stable_partition(from.begin(), from.end(),
                                          [&](const Difference& one) { return !is_declared(vary, one.key); });
  to.insert(to.end(), rest, from.end());
  from.erase(rest, from.end());
}

// Another engine has another device and source, which say nothing more.
void drop_what_follows_from_the_engine(std::vector<Difference>& differences) {
  if (std::ranges::find(differences, "engine", &Difference::key) == differences.end()) return;
  std::erase_if(differences, [](const Difference& one) { return one.key.starts_with("engine_"); });
}

ComparedArm compare_arm(const MeasuredArm& base, const MeasuredArm& other, const RunComparison& comparison) {
  ComparedArm arm{.trial = base.first().name,
                  .emulated = base.first().emulated || other.first().emulated,
                  .base = sample_of(base, comparison.by_runs),
                  .other = sample_of(other, comparison.by_runs),
                  .differences = obstacles(base, other)};
  std::vector<Difference>& place = comparison.options.across_machines ? arm.allowed : arm.differences;
  const std::vector<Difference> places = place_differences(base.trials, other.trials);
  place.insert(place.end(), places.begin(), places.end());
  drop_what_follows_from_the_engine(arm.differences);
  move_declared(comparison.options.vary, arm.differences, arm.allowed);
  const bool same_machine = comparison.environment.empty() || comparison.options.across_machines;
  if (!same_machine || !arm.differences.empty()) return arm;
  judge_arm(arm, is_disturbed(base) || is_disturbed(other), comparison.options.threshold);
  arm.cpu_ratio = cpu_ratio_of(base, other);
  arm.note = joined({certainty_note(arm, comparison), waiting_note(arm, base, other), flags_note("base", base),
                     flags_note("new", other)});
  return arm;
}

// Returns the arms of the two sides that differ in the fewest settings, for messages about unrelated runs.
std::optional<NearestArms> nearest_arms(const std::vector<MeasuredArm>& base, const std::vector<MeasuredArm>& others) {
  std::optional<NearestArms> nearest;
  for (const MeasuredArm& arm : base) {
    for (const MeasuredArm& other : others) {
      std::vector<Difference> found = obstacles(arm, other);
      if (nearest && nearest->differences.size() <= found.size()) continue;
      nearest = {.base = arm.first().name, .other = other.first().name, .differences = std::move(found)};
    }
  }
  return nearest;
}

// Returns the name in today's words: older versions had other words for some formats.
std::string todays_name(const MeasuredArm& arm) {
  std::string name = " " + arm.first().name + " ";
  for (const auto& [format, word] : spec::named_values<spec::DataFormat>()) {
    const std::size_t at = name.find(" " + word + " ");
    if (at != std::string::npos) name.replace(at + 1, word.size(), spec::to_string(format));
  }
  return name;
}

// Returns in how many keys two arms differ if --vary declares all of them.
std::optional<std::size_t> declared_distance(const MeasuredArm& arm, const MeasuredArm& other,
                                             const std::vector<std::string>& vary) {
  if (vary.empty()) return {};
  const std::vector<Difference> found = spec_differences(arm.first(), other.first());
  const bool all = std::ranges::all_of(found, [&](const Difference& one) { return is_declared(vary, one.key); });
  return all ? std::optional(found.size()) : std::nullopt;
}

// Returns the arm with the same spec, or else one that has no exact partner: one of the same name, or the one that
// differs in the fewest keys, all declared by --vary, and has no namesake. One of the same name may not be comparable;
// the result then shows the differences.
std::vector<MeasuredArm>::iterator partner(const MeasuredArm& arm, const std::vector<MeasuredArm>& siblings,
                                           const std::vector<std::string>& vary, std::vector<MeasuredArm>& others) {
  const auto same = std::ranges::find(others, arm.key, &MeasuredArm::key);
  if (same != others.end()) return same;
  const auto is_free = [&](const MeasuredArm& other) {
    return std::ranges::find(siblings, other.key, &MeasuredArm::key) == siblings.end();
  };
  const auto namesake = std::ranges::find_if(
      others, [&](const MeasuredArm& other) { return todays_name(other) == todays_name(arm) && is_free(other); });
  if (namesake != others.end()) return namesake;
  auto nearest = others.end();
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (auto other = others.begin(); other != others.end(); ++other) {
    if (!is_free(*other) || std::ranges::find(siblings, todays_name(*other), todays_name) != siblings.end()) continue;
    const std::optional<std::size_t> distance = declared_distance(arm, *other, vary);
    if (!distance || *distance >= fewest) continue;
    nearest = other;
    fewest = *distance;
  }
  return nearest;
}

}  // namespace

std::string to_string(Verdict verdict) {
  static const std::map<Verdict, std::string> words{{Verdict::better, "better"},
                                                    {Verdict::same, "same"},
                                                    {Verdict::worse, "worse"},
                                                    {Verdict::undecided, "undecided"},
                                                    {Verdict::not_comparable, "not comparable"}};
  return words.at(verdict);
}

Verdict judge(const measure::Ratio& ratio, double threshold) {
  const measure::Interval known = ratio.ci95.value_or(measure::Interval{.low = ratio.value, .high = ratio.value});
  if (ratio.value < 1 - threshold && known.high < 1) return Verdict::worse;
  if (ratio.value > 1 + threshold && known.low > 1) return Verdict::better;
  const bool is_certain = !ratio.ci95 || (known.low >= 1 - threshold && known.high <= 1 + threshold);
  return is_certain ? Verdict::same : Verdict::undecided;
}

RunComparison compare_runs(const Side& base, const Side& other, const CompareOptions& options) {
  if (!(options.threshold > 0 && options.threshold < 1)) {  // also rejects NaN, with which nothing would be worse
    throw SpecError(fmt::format("--threshold is {}, and must be between 0 and 1", options.threshold));
  }
  check_declared(options.vary, base, other);
  const std::vector<MeasuredArm> base_arms = arms_of(base);
  std::vector<MeasuredArm> other_arms = arms_of(other);
  RunComparison comparison{.base = base.name,
                           .other = other.name,
                           .options = options,
                           .by_runs = base.runs.size() > 1 || other.runs.size() > 1,
                           .environment = environment_differences(base, other),
                           .remarks = remarkable_differences(base, other)};
  // The CPU of rank 0's host is compared with the machine.
  if (std::ranges::find(comparison.environment, "cpu", &Difference::key) != comparison.environment.end())
    std::erase_if(comparison.remarks, [](const Difference& one) { return one.key == "cpu"; });
  move_declared(options.vary, comparison.environment, comparison.declared);
  move_declared(options.vary, comparison.remarks, comparison.declared);
  std::vector<MeasuredArm> alone;
  for (const MeasuredArm& arm : base_arms) {
    const auto found = partner(arm, base_arms, options.vary, other_arms);
    if (found == other_arms.end()) {
      comparison.only_in_base.push_back(arm.first().name);
      alone.push_back(arm);
      continue;
    }
    comparison.arms.push_back(compare_arm(arm, *found, comparison));
    other_arms.erase(found);
  }
  if (comparison.arms.empty() || !options.vary.empty()) comparison.nearest = nearest_arms(alone, other_arms);
  for (const MeasuredArm& arm : other_arms) comparison.only_in_other.push_back(arm.first().name);
  return comparison;
}

std::vector<Difference> undeclared_differences(const RunComparison& comparison) {
  const CompareOptions& options = comparison.options;
  std::vector<Difference> all;
  if (options.vary.empty()) return all;
  const auto add = [&](const std::vector<Difference>& some) {
    for (const Difference& one : some)
      if (!is_declared(options.vary, one.key) && std::ranges::find(all, one) == all.end()) all.push_back(one);
  };
  if (!options.across_machines) add(comparison.environment);
  add(comparison.remarks);
  for (const ComparedArm& arm : comparison.arms) add(arm.differences);
  if (comparison.nearest) add(comparison.nearest->differences);
  return all;
}

}  // namespace chexbench::verbs
