#include "analysis/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analysis/commands.hpp"
#include "analysis/derive.hpp"
#include "analysis/trust.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

// Returns " (naive images: other processes used up to 34 % of its cores in 2 of 6 repeats)", or "" if neither trial was
// disturbed.
std::string disturbances(const Measured& a, const Measured& b) {
  std::vector<std::string> reasons;
  for (const Measured* measured : {&a, &b}) {
    if (results::is_disturbed(measured->trial))
      reasons.push_back(fmt::format("{}: {}", measured->name(), disturbance_text(measured->trial)));
  }
  return reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, "; "));
}

// Returns "95 % interval 3.30 to 3.61", with the number of rounds that contradict it if the interval alone would be
// misleading.
std::string interval_text(const measure::Ratio& ratio, const results::SharedRounds& rounds, results::Grade grade) {
  if (!ratio.ci95) return spec::kNoInterval;
  std::string text = fmt::format("95 % interval {:.2f} to {:.2f}", ratio.ci95->low, ratio.ci95->high);
  if (grade != results::Grade::cannot_tell || (ratio.ci95->low <= 1 && 1 <= ratio.ci95->high)) return text;
  std::size_t contradicting = 0;
  for (std::size_t i = 0; i < rounds.a.size(); ++i)
    contradicting += (rounds.a[i] > rounds.b[i]) == (ratio.value > 1) ? 0 : 1;
  return fmt::format("{}, which {} of {} rounds contradict", text, contradicting, rounds.a.size());
}

// Returns the setting that lifts the time limit that cut the trial's repeats short, or "" if none did.
std::string lifted_limit(const results::TrialResult& trial) {
  const spec::MeasureSpec& measure = trial.spec.measure;
  if (!trial.partial || measure.repeats < spec::kRepeatsForInterval) return "";
  if (measure.max_total_seconds) return "measure.max_total_seconds=null";
  return measure.max_seconds ? "measure.max_seconds=null" : "";
}

void leave_out_pipeline(spec::TrialSpec& spec) { spec.pipeline = {}; }

// Training over ready-made batches is never compared as another format.
void leave_out_format(spec::TrialSpec& spec) {
  if (spec::uses_pipeline(spec)) spec.data.format = spec::DataFormat::images;
}

void leave_out_store(spec::TrialSpec& spec) {
  spec.data.root.clear();
  spec.data.store = {};
}

std::string pipeline_of(const spec::TrialSpec& spec) { return spec.pipeline.name; }

std::string format_of(const spec::TrialSpec& spec) { return to_string(spec.data.format); }

std::string root_of(const spec::TrialSpec& spec) { return spec.data.root; }

std::string name_beside(const results::TrialResult& trial, const results::TrialResult& other, const Aspect& aspect) {
  std::string name = aspect.name_of(trial.spec);
  return name == aspect.name_of(other.spec) ? trial.name : name;
}

// Leaves out all settings except those that make two trials different work: network, engine, number of ranks or kind of
// input.
void leave_out_settings(spec::TrialSpec& spec) {
  spec::TrialSpec work;
  work.engine = std::move(spec.engine);
  work.model.name = std::move(spec.model.name);
  work.ranks = spec.ranks;
  work.data.format = spec::uses_pipeline(spec) ? spec::DataFormat::images : spec::DataFormat::ready;
  spec = std::move(work);
}

std::string no_name(const spec::TrialSpec& /*spec*/) { return ""; }

constexpr Aspect kSettings{.kind = "", .leave_out = leave_out_settings, .name_of = no_name};

// Returns the fastest pair among those with the first pair's base.
const Pair& fastest(const std::vector<Pair>& all) {
  const auto key = [](const Pair& pair) {
    return std::pair(pair.grade == results::Grade::told_apart && pair.ratio.value > 1, pair.ratio.value);
  };
  const Pair* best = &all.front();
  for (const Pair& pair : all) {
    if (&pair.base.trial == &best->base.trial && key(pair) > key(*best)) best = &pair;
  }
  return *best;
}

}  // namespace

std::string why_unclear(const Pair& pair, const std::string& trial, const std::string& base,
                        const std::string& measured, const std::string& disturbances) {
  switch (pair.grade) {
    case results::Grade::cannot_tell:
      return fmt::format("{} and {} cannot be told apart: {}", trial, base, measured);
    case results::Grade::machine_too_busy:
      return fmt::format("The machine was too busy to compare {} with {}{}: {}", trial, base, disturbances, measured);
    case results::Grade::sample_too_small:
      if (!pair.ratio.ci95) break;
      return fmt::format("Too few steps to compare {} with {}: they used batches buffered before timing: {}", trial,
                         base, measured);
    case results::Grade::told_apart:
      break;
  }
  return "";
}

std::string compared(const Pair& pair) {
  const auto& [a, b, ratio, grade] = pair;
  const results::SharedRounds rounds = results::shared_rounds(a.trial, b.trial);
  const std::string against =
      fmt::format("{} against {}", rate_text(measure::median(rounds.a)), rate_text(measure::median(rounds.b)));
  const std::string interval = interval_text(ratio, rounds, grade);
  const std::string measured = fmt::format("ratio {:.2f} ({}), {} images/s", ratio.value, interval, against);
  if (std::string why = why_unclear(pair, a.name(), b.name(), measured, disturbances(a, b)); !why.empty()) return why;
  const std::string busy = rounds.disturbed ? fmt::format("On a busy machine{}: ", disturbances(a, b)) : "";
  return fmt::format("{}{} {} {:.2f} x the images/s of {} ({}): {}", busy, a.name(),
                     a.has_engine() ? "trains" : "delivers", ratio.value, b.name(), interval, against);
}

results::Finding comparison(const char* kind, const Pair& pair, std::string text, const std::string& base_name) {
  const auto& [trial, base, ratio, grade] = pair;
  results::Finding finding{.kind = kind,
                           .text = std::move(text),
                           .emulated = trial.trial.emulated || base.trial.emulated,
                           .grade = grade,
                           .trial = trial.trial.name,
                           .base = base.trial.name,
                           .ratio = ratio};
  const char* const verb = trial.has_engine() ? "trains" : "delivers";
  const std::string interval = ratio.ci95 ? fmt::format(" ({:.2f} to {:.2f})", ratio.ci95->low, ratio.ci95->high) : "";
  switch (grade) {
    case results::Grade::cannot_tell:
      finding.headline = fmt::format("cannot be told from {}: {:.2f} x{}", base_name, ratio.value, interval);
      finding.reason = "The repeats vary more than the two trials differ.";
      break;
    case results::Grade::machine_too_busy:
      finding.headline = fmt::format("cannot be compared with {} on this busy machine", base_name);
      finding.reason =
          fmt::format("Other load may explain the ratio, {:.2f} x{}, or hide a larger one.", ratio.value, interval);
      finding.advice = "Measure again when the machine is free.";
      finding.command = run_again(trial.trial);
      break;
    case results::Grade::sample_too_small:
      finding.headline = fmt::format("{} {:.2f} x the images/s of {}{}", verb, ratio.value, base_name, interval);
      if (ratio.ci95) {
        finding.reason = "Their steps used batches buffered before timing.";
        finding.advice = "Measure more steps.";
        finding.command = run_again(trial.trial, more_steps(trial.trial));
      } else {
        finding.reason = fmt::format("It has no interval because {} were measured.", spec::kTooFewRepeats);
        std::string setting = lifted_limit(trial.trial);
        finding.advice = setting.empty()
                             ? "Measure five repeats, which give an interval."
                             : "Measure when the machine is free, or without the limit that ended it early.";
        if (setting.empty()) setting = fmt::format("measure.repeats={}", spec::kRepeatsForInterval);
        if (trial.figures.buffer_fed || base.figures.buffer_fed) {
          finding.advice += " Measure more steps, too: these used batches buffered before timing.";
          setting += " --set " + more_steps(trial.trial);
        }
        finding.command = run_again(trial.trial, setting);
      }
      break;
    case results::Grade::told_apart:
      finding.headline = fmt::format("{} {:.2f} x the images/s of {}{}", verb, ratio.value, base_name, interval);
      finding.worth_share = 1 - std::min(ratio.value, 1 / ratio.value);
      break;
  }
  return finding;
}

Rivals::Rivals(const Trials& trials, spec::LeaveOut leave_out) : trials_(trials), alike_(leave_out) {
  for (const Measured& measured : trials) alike_.add(measured.trial.spec);
}

std::string Measured::name() const { return results::marked(trial); }

Trials measured_trials(const std::vector<results::TrialResult>& trials, std::vector<results::Figures> figures) {
  Trials measured;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (figures[i].images_per_s.value_or(0) > 0)
      measured.push_back({.trial = trials[i], .figures = std::move(figures[i])});
  }
  return measured;
}

Trials measured_trials(const std::vector<results::TrialResult>& trials) {
  return measured_trials(trials, derive_all_figures(trials));
}

Trials widest(const Trials& trials) {
  Trials chosen;
  Rivals rivals(trials, spec::leave_out_ranks);
  for (const Measured& measured : trials) {
    const auto is_wider = [&](const Measured& other) { return other.trial.ranks > measured.trial.ranks; };
    if (rivals.first(measured, is_wider) == nullptr) chosen.push_back(measured);
  }
  return chosen;
}

std::span<const Aspect> input_aspects() {
  static constexpr std::array<Aspect, 3> kAspects{
      {{.kind = "pipeline_ratio", .leave_out = leave_out_pipeline, .name_of = pipeline_of},
       {.kind = "format_ratio", .leave_out = leave_out_format, .name_of = format_of},
       {.kind = "storage_ratio", .leave_out = leave_out_store, .name_of = root_of}}};
  return kAspects;
}

std::string Pair::trial_name(const Aspect& aspect) const { return name_beside(trial.trial, base.trial, aspect); }

std::string Pair::base_name(const Aspect& aspect) const { return name_beside(base.trial, trial.trial, aspect); }

std::optional<Pair> pair_of(const Measured& trial, const Measured& base) {
  const auto ratio = results::paired_rates(trial.trial, base.trial);
  if (!ratio) return std::nullopt;
  return Pair{.trial = trial, .base = base, .ratio = *ratio, .grade = grade_of(trial.trial, base.trial, *ratio)};
}

std::vector<Pair> pairs(const Trials& trials, const Trials& all, const Aspect& aspect) {
  std::vector<Pair> found;
  Rivals rivals(all, aspect.leave_out);
  for (const Measured& measured : trials) {
    const Measured* const base = rivals.first(measured, [](const Measured&) { return true; });
    if (base == nullptr || &base->trial > &measured.trial) continue;  // both are of one list of trials
    if (const std::optional<Pair> pair = pair_of(measured, *base)) found.push_back(*pair);
  }
  return found;
}

Trials competitors(const Trials& arms) {
  const auto with_input = [](const Measured& arm) { return spec::uses_pipeline(arm.trial.spec); };
  const auto training = [](const Measured& arm) { return arm.has_engine(); };
  const auto alone = [](const Measured& arm) { return !spec::has_second_job(arm.trial.spec); };
  const bool reads = std::ranges::any_of(arms, with_input), trains = std::ranges::any_of(arms, training);
  const bool undisturbed = std::ranges::any_of(arms, alone);
  Trials left;
  for (const Measured& arm : arms) {
    if ((!reads || with_input(arm)) && (!trains || training(arm)) && (!undisturbed || alone(arm))) left.push_back(arm);
  }
  return left.empty() ? arms : left;
}

std::optional<Choice> choose_pair(const Trials& chosen, const Trials& all) {
  std::vector<const Aspect*> aspects;
  for (const Aspect& aspect : input_aspects()) aspects.push_back(&aspect);
  aspects.push_back(&kSettings);
  for (const Aspect* aspect : aspects) {
    const std::vector<Pair> found = pairs(chosen, all, *aspect);
    if (!found.empty()) return Choice{.pair = fastest(found), .aspect = aspect};
  }
  return std::nullopt;
}

}  // namespace chexbench::analysis
