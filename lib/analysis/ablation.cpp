#include "analysis/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/trust.hpp"
#include "core/text.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/resolved.hpp"

namespace chexbench::analysis {
namespace {

using Group = std::vector<const results::TrialResult*>;

std::vector<Group> groups_of(const std::vector<const results::TrialResult*>& trials) {
  std::vector<Group> groups;
  spec::Numbering numbering;
  for (const results::TrialResult* trial : trials) {
    if (trial->repeats.empty()) continue;
    spec::TrialSpec without_pipeline = trial->spec;
    without_pipeline.pipeline = {};
    const std::size_t number = numbering.of(std::move(without_pipeline));
    if (number == groups.size()) groups.emplace_back();
    groups[number].push_back(trial);
  }
  std::erase_if(groups, [](const Group& group) { return group.size() < 3; });
  return groups;
}

std::string name_in(const Group& group, const results::TrialResult& trial) {
  const auto namesakes = std::ranges::count_if(
      group, [&](const results::TrialResult* other) { return other->spec.pipeline.name == trial.spec.pipeline.name; });
  return namesakes == 1 ? trial.spec.pipeline.name : trial.name;
}

Ablation ablation(const Group& group) {
  const results::TrialResult& first = *group.front();
  Ablation result{.over = fmt::format("{}, {} rank{}", spec::to_string(first.spec.data.format), first.ranks,
                                      first.ranks == 1 ? "" : "s"),
                  .emulated = first.emulated,
                  .steps = {}};
  const results::TrialResult* before = nullptr;
  for (const results::TrialResult* trial : group) {
    AblationStep& step = result.steps.emplace_back(
        AblationStep{.trial = trial, .name = name_in(group, *trial), .images_per_s = results::median_rate(*trial)});
    if (before != nullptr) {
      step.to_before = results::paired_rates(*trial, *before);
      if (step.to_before) step.grade = grade_of(*trial, *before, *step.to_before);
      step.to_first = before == &first ? step.to_before : results::paired_rates(*trial, first);
    }
    before = trial;
  }
  return result;
}

// Ablations with the same format and ranks may differ in, say, the batch size. The name of the first trial then
// distinguishes them.
void tell_apart(std::vector<Ablation>& ablations) {
  std::vector<std::string> names;
  for (const Ablation& one : ablations) names.push_back(one.over);
  for (Ablation& one : ablations) {
    if (std::ranges::count(names, one.over) > 1) one.over += ", from " + one.steps.front().trial->name;
  }
}

std::string step_text(const AblationStep& step) {
  if (!step.to_before) return step.name + " (not measured alternately)";
  const auto& [value, ci95] = *step.to_before;
  const std::string interval = ci95 ? fmt::format(" ({:.2f} to {:.2f})", ci95->low, ci95->high) : "";
  const std::string doubt =
      step.grade == results::Grade::told_apart ? "" : fmt::format(", {}", results::to_string(step.grade));
  return fmt::format("{} {:.2f} x{}{}", step.name, value, interval, doubt);
}

results::Finding ablation_finding(const Ablation& ablation) {
  const AblationStep& first = ablation.steps.front();
  std::string text =
      fmt::format("Step by step over {}{}, each against the one before (95 % interval): {} {} images/s", ablation.over,
                  ablation.emulated ? " (emulated)" : "", first.name, rate_text(first.images_per_s));
  for (std::size_t i = 1; i < ablation.steps.size(); ++i) text += "; " + step_text(ablation.steps[i]);
  text += fmt::format("; all together {} images/s.", rate_text(ablation.steps.back().images_per_s));
  const AblationStep& last = ablation.steps.back();
  return {.kind = "ablation",
          .text = std::move(text),
          .emulated = ablation.emulated,
          .headline = fmt::format("{} steps lead from {} to {} images/s", ablation.steps.size(),
                                  rate_text(first.images_per_s), rate_text(last.images_per_s)),
          .reason = fmt::format("They lead from {} to {} over {}.", first.name, last.name, ablation.over)};
}

}  // namespace

std::vector<Ablation> ablations(const std::vector<const results::TrialResult*>& trials) {
  std::vector<Ablation> all;
  for (const Group& group : groups_of(trials)) all.push_back(ablation(group));
  tell_apart(all);
  return all;
}

std::vector<Ablation> ablations(const results::Report& report) {
  std::vector<const results::TrialResult*> trials;
  for (const results::TrialResult& trial : report.trials) trials.push_back(&trial);
  return ablations(trials);
}

std::vector<results::Finding> ablation_findings(const std::vector<const results::TrialResult*>& trials) {
  std::vector<results::Finding> findings;
  for (const Ablation& one : ablations(trials)) findings.push_back(ablation_finding(one));
  return findings;
}

}  // namespace chexbench::analysis
