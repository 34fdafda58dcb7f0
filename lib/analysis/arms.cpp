#include "analysis/arms.hpp"

#include <array>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/grade.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

void leave_out_pipeline(spec::TrialSpec& spec) { spec.pipeline = {}; }

// Training over ready-made batches is never compared as another format.
void leave_out_format(spec::TrialSpec& spec) {
  if (spec::uses_pipeline(spec)) spec.data.format = spec::DataFormat::png;
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

}  // namespace

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

}  // namespace chexbench::analysis
