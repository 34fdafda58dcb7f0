#include "analysis/answer_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <utility>

#include "analysis/grade.hpp"
#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/text.hpp"
#include "results/disturbance.hpp"
#include "results/labels.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"
#include "spec/profile.hpp"

namespace chexbench::analysis {
namespace {

// Leaves out all settings except those that make two trials different work: network, engine, number of ranks or kind of
// input.
void leave_out_settings(spec::TrialSpec& spec) {
  spec::TrialSpec work;
  work.engine = std::move(spec.engine);
  work.model.name = std::move(spec.model.name);
  work.ranks = spec.ranks;
  work.data.format = spec::uses_pipeline(spec) ? spec::DataFormat::png : spec::DataFormat::synthetic;
  spec = std::move(work);
}

std::string no_name(const spec::TrialSpec& /*spec*/) { return ""; }

constexpr Aspect kSettings{.kind = "", .leave_out = leave_out_settings, .name_of = no_name};

// Returns "2 V100s (emulated)", "its 2 GPUs", or else "its engine".
std::string devices(const results::TrialResult& trial) {
  const bool several = trial.ranks > 1;
  if (spec::is_emulated(trial.spec)) {
    const std::filesystem::path profile = trial.spec.engine.substr(spec::kEmulatedPrefix.size());
    return fmt::format("{} {}{} {}", trial.ranks, upper_case(profile.stem().string()), several ? "s" : "",
                       results::mark_of(trial));
  }
  if (trial.spec.engine == "cuda") return several ? fmt::format("its {} GPUs", trial.ranks) : "its GPU";
  return "its engine";
}

// Returns the subject, with its context and its mark in brackets: "optimized (png, 2 ranks) (emulated)".
std::string named(const Subject& subject, const std::string& mark) {
  return fmt::format("{}{}{}", subject.name, subject.context.empty() ? "" : fmt::format(" ({})", subject.context),
                     mark.empty() ? "" : " " + mark);
}

// Returns "optimized (png, 2 ranks) keeps 2 V100s (emulated) fed: 748 images/s".
std::string rate_clause(const Measured& arm, const Subject& subject) {
  const std::string images_per_s = rate(arm.images_per_s());
  if (is_fed(arm))
    return fmt::format("{} keeps {} fed: {} images/s", named(subject, ""), devices(arm.trial), images_per_s);
  return fmt::format("{} {} {} images/s", named(subject, results::mark_of(arm.trial)),
                     arm.has_engine() ? "trains" : "delivers", images_per_s);
}

std::string interval_of(const measure::Ratio& ratio) {
  return ratio.ci95 ? fmt::format("95 % interval {:.2f} to {:.2f}", ratio.ci95->low, ratio.ci95->high)
                    : spec::kNoInterval;
}

// Returns the verdict about what limits the arm, if there is one.
std::optional<results::Finding> verdict_of(const Measured& arm) {
  std::vector<results::Finding> all = verdicts(arm.trial, arm.figures);
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

std::string cores_sentence(const Measured& arm, const std::string& name) {
  const std::optional<double>& busy = arm.figures.cores_busy_share;
  if (!busy || results::is_disturbed(arm.trial)) return "";
  const std::string limit = limit_text(arm.trial);
  if (!limit.empty()) return fmt::format("{}: {}.", name, limit);
  const bool full = *busy >= kFullCores;
  if (!full && cores_are_missing(arm.figures)) return "";  // its threads wait for supposedly free cores
  // A single busy thread may hold a pipeline back: a faster core would help, another core would not.
  return fmt::format("The cores of {} are busy {:.0f} % of the time{}.", name, 100 * *busy,
                     full ? ": more or faster cores would deliver more" : ", so it is not short of them");
}

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

// Returns a built-in profile with a time for the training, preferably the V100, or "".
std::string known_accelerator(const spec::TrialSpec& spec) {
  std::vector<std::string> names = {"v100"};
  names.insert(names.end(), spec::profile_names().begin(), spec::profile_names().end());
  const auto has_time = [&](const std::string& name) {
    return std::ranges::any_of(spec::load_profile(name).entries, [&](const spec::ProfileEntry& entry) {
      return entry.model == spec.model.name && entry.image_size == spec.model.image_size &&
             entry.precision == spec.training.precision;
    });
  };
  const auto found = std::ranges::find_if(names, has_time);
  return found == names.end() ? "" : *found;
}

Advice accelerator_advice(const spec::TrialSpec& spec) {
  const std::string accelerator = known_accelerator(spec);
  const std::string predict = "chexbench predict --report DIR --accelerator ";
  if (!accelerator.empty())
    return {.advice = "see which accelerators it feeds: predict computes it from this run",
            .command = predict + accelerator};
  return {.advice = fmt::format("measure how fast {} of {}x{} trains on a machine, because no built-in profile has it; "
                                "predict then computes from this run what feeds it",
                                spec.model.name, spec.model.image_size, spec.model.image_size),
          .command = spec::calibrate_command(spec.model, spec.training.precision) + " && " + predict + "profile.json"};
}

}  // namespace

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

std::string circumstances(const std::vector<results::TrialResult>& trials, const results::TrialResult& trial,
                          const Aspect& aspect) {
  const results::Labels labels = results::label_trials(trials);
  const std::string own = aspect.name_of(trial.spec);
  std::vector<std::string> words;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (&trials[i] != &trial) continue;
    for (std::size_t column = 0; column < labels.names.size(); ++column) {
      const std::string& name = labels.names[column];
      const std::string& value = labels.rows[i][column];
      if (value.empty() || value == own || name == "trial" || name == "engine") continue;
      words.push_back(name == "ranks"   ? fmt::format("{} rank{}", value, value == "1" ? "" : "s")
                      : name == "batch" ? "batch " + value
                                        : value);
    }
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string pair_sentence(const Pair& pair, const Subject& subject, const std::string& base) {
  const auto& [trial, other, ratio, grade] = pair;
  const std::string name = named(subject, results::mark_of(trial.trial));
  const std::string measured = fmt::format("{} and {} images/s, ratio {:.2f} ({})", rate(trial.images_per_s()),
                                           rate(other.images_per_s()), ratio.value, interval_of(ratio));
  switch (grade) {
    case results::Grade::cannot_tell:
      return fmt::format("{} and {} cannot be told apart: {}.", name, base, measured);
    case results::Grade::machine_too_busy:
      return fmt::format("The machine was too busy to compare {} with {}: {}.", name, base, measured);
    case results::Grade::sample_too_small:
      if (!ratio.ci95) break;
      return fmt::format("Too few steps to compare {} with {}, because they drained buffers filled earlier: {}.", name,
                         base, measured);
    case results::Grade::told_apart:
      break;
  }
  return fmt::format("{}, {:.2f} x {} ({}).", rate_clause(trial, subject), ratio.value, base, interval_of(ratio));
}

std::string arm_sentence(const Measured& arm, const Subject& subject) {
  const auto& ci95 = arm.figures.images_per_s_ci95;
  return fmt::format(
      "{} ({}).", rate_clause(arm, subject),
      ci95 ? fmt::format("95 % interval {} to {}", rate(ci95->low), rate(ci95->high)) : spec::kNoInterval);
}

std::string limit_sentence(const Measured& arm, const std::string& name, bool fed_is_said) {
  if (!arm.has_engine()) return cores_sentence(arm, name);
  const std::optional<results::Finding> verdict = verdict_of(arm);
  if (!verdict || (verdict->kind == "fed" && fed_is_said)) return "";
  return fmt::format("{} {}.{}{}", named({.name = name, .context = ""}, results::mark_of(arm.trial)), verdict->headline,
                     verdict->reason.empty() ? "" : " ", verdict->reason);
}

std::string scaling_sentence(const Measured& arm, const std::string& name) {
  const std::optional<double>& efficiency = arm.figures.scaling_efficiency;
  if (!efficiency || arm.trial.ranks == 1) return "";
  const auto& ci95 = arm.figures.scaling_efficiency_ci95;
  return fmt::format(
      "{} reaches {:.0f} % of {} times its images/s at 1 rank ({}).",
      named({.name = name, .context = ""}, results::mark_of(arm.trial)), 100 * *efficiency, arm.trial.ranks,
      ci95 ? fmt::format("95 % interval {:.0f} to {:.0f} %", 100 * ci95->low, 100 * ci95->high) : spec::kNoInterval);
}

bool is_fed(const Measured& arm) {
  return arm.figures.limit == results::LimitedBy::compute && arm.figures.wait_share.value_or(1) <= results::kFedShare;
}

bool waits(const Measured& arm) {
  return arm.figures.limit == results::LimitedBy::cpu || arm.figures.limit == results::LimitedBy::input;
}

double limit_cost(const Measured& arm) {
  const std::optional<results::Finding> verdict = verdict_of(arm);
  return verdict ? verdict->worth_share : 0;
}

Advice limit_advice(const Measured& arm) {
  if (!arm.has_engine()) return accelerator_advice(arm.trial.spec);
  const std::optional<results::Finding> verdict = verdict_of(arm);
  if (!verdict) return {};
  if (verdict->kind == "fed") return {.advice = "leave its input as it is, for it keeps up", .command = ""};
  Advice advice{.advice = verdict->advice, .command = verdict->command};
  if (!advice.advice.empty())
    advice.advice.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(advice.advice.front())));
  return advice;
}

}  // namespace chexbench::analysis
