#include "analysis/arms.hpp"

#include <algorithm>
#include <array>

#include "analysis/derive.hpp"
#include "analysis/grade.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

void equalize_pipelines(spec::Experiment& spec, const spec::Experiment& like) { spec.pipeline = like.pipeline; }

// Training over ready-made batches is never compared as another format.
void equalize_formats(spec::Experiment& spec, const spec::Experiment& like) {
  if (spec::uses_pipeline(spec) && spec::uses_pipeline(like)) spec.data.format = like.data.format;
}

void equalize_stores(spec::Experiment& spec, const spec::Experiment& like) {
  spec.data.root = like.data.root;
  spec.data.store = like.data.store;
}

std::string pipeline_of(const spec::Experiment& spec) { return spec.pipeline.name; }

std::string format_of(const spec::Experiment& spec) { return to_string(spec.data.format); }

std::string root_of(const spec::Experiment& spec) { return spec.data.root; }

std::string name_beside(const results::TrialResult& trial, const results::TrialResult& other, const Aspect& aspect) {
  std::string name = aspect.name_of(trial.spec);
  return name == aspect.name_of(other.spec) ? trial.trial : name;
}

}  // namespace

std::string Measured::name() const { return results::marked(trial); }

Trials measured_trials(const std::vector<results::TrialResult>& trials) {
  Trials measured;
  for (const results::TrialResult& trial : trials) {
    const results::Figures figures = derive_figures(trial, trials);
    if (figures.images_per_s.value_or(0) > 0) measured.push_back({.trial = trial, .figures = figures});
  }
  return measured;
}

Trials widest(const Trials& trials) {
  Trials chosen;
  for (const Measured& measured : trials) {
    const bool surpassed = std::any_of(trials.begin(), trials.end(), [&](const Measured& other) {
      return other.trial.ranks > measured.trial.ranks && same_arm(other.trial, measured.trial);
    });
    if (!surpassed) chosen.push_back(measured);
  }
  return chosen;
}

std::span<const Aspect> input_aspects() {
  static constexpr std::array<Aspect, 3> kAspects{
      {{.kind = "pipeline_ratio", .equalize = equalize_pipelines, .name_of = pipeline_of},
       {.kind = "format_ratio", .equalize = equalize_formats, .name_of = format_of},
       {.kind = "storage_ratio", .equalize = equalize_stores, .name_of = root_of}}};
  return kAspects;
}

std::string Pair::trial_name(const Aspect& aspect) const { return name_beside(trial.trial, base.trial, aspect); }

std::string Pair::base_name(const Aspect& aspect) const { return name_beside(base.trial, trial.trial, aspect); }

std::optional<Pair> pair_of(const Measured& trial, const Measured& base) {
  const auto ratio = results::paired_rates(trial.trial, base.trial);
  if (!ratio) return std::nullopt;
  return Pair{.trial = trial, .base = base, .ratio = *ratio, .grade = grade_of(trial.trial, base.trial)};
}

std::vector<Pair> pairs(const Trials& trials, const Trials& all, const Aspect& aspect) {
  std::vector<Pair> found;
  for (const Measured& measured : trials) {
    const auto self =
        std::find_if(all.begin(), all.end(), [&](const Measured& other) { return &other.trial == &measured.trial; });
    const auto base = std::find_if(all.begin(), self, [&](const Measured& other) {
      return differ_only_in(measured.trial, other.trial, aspect.equalize);
    });
    if (base == self) continue;
    if (const std::optional<Pair> pair = pair_of(measured, *base)) found.push_back(*pair);
  }
  return found;
}

}  // namespace chexbench::analysis
