#include "analysis/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "analysis/ablation.hpp"
#include "analysis/derive.hpp"
#include "analysis/disturbance.hpp"
#include "analysis/economics.hpp"
#include "analysis/gpu_findings.hpp"
#include "analysis/grade.hpp"
#include "analysis/input_findings.hpp"
#include "analysis/learning.hpp"
#include "analysis/rank_spread.hpp"
#include "analysis/starvation.hpp"
#include "analysis/verdict.hpp"
#include "measure/statistics.hpp"
#include "results/disturbance.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

constexpr double kAmplified = 1.25;     // images decoded per image trained that are worth a sentence
constexpr double kToldShare = 0.005;    // of the time in communication: less rounds to 0 %
constexpr double kToldSpread = 0.05;    // over ranks, from which the slowest is named
constexpr double kCeilingFactor = 1.2;  // pipeline alone / training, from which training is the bottleneck

// A measured trial and its figures.
struct Measured {
  const results::TrialResult& trial;
  results::Figures figures;

  double images_per_s() const { return *figures.images_per_s; }
  bool trains() const { return trial.spec.engine != "none"; }
  std::string name() const { return results::marked(trial); }
};
using Trials = std::vector<Measured>;

void add(std::vector<results::Finding>& findings, const char* kind, std::string text, bool emulated) {
  findings.push_back({.kind = kind, .text = std::move(text), .emulated = emulated});
}

// Returns " (naive png: others took up to 34 % of its cores in 2 of 6 repeats)", or "" if neither trial was disturbed.
std::string disturbances(const Measured& a, const Measured& b) {
  std::vector<std::string> reasons;
  for (const Measured* measured : {&a, &b}) {
    if (results::is_disturbed(measured->trial))
      reasons.push_back(fmt::format("{}: {}", measured->name(), disturbance_text(measured->trial)));
  }
  return reasons.empty() ? "" : fmt::format(" ({})", fmt::join(reasons, "; "));
}

// Returns "95 % interval 3.30 to 3.61", with the number of rounds that contradict it if the interval alone would
// mislead.
std::string interval_text(const measure::Ratio& ratio, const results::SharedRounds& rounds, results::Grade grade) {
  if (!ratio.ci95) return "no interval: fewer than five repeats";
  std::string text = fmt::format("95 % interval {:.2f} to {:.2f}", ratio.ci95->low, ratio.ci95->high);
  if (grade != results::Grade::cannot_tell || (ratio.ci95->low <= 1 && 1 <= ratio.ci95->high)) return text;
  std::size_t contradicting = 0;
  for (std::size_t i = 0; i < rounds.a.size(); ++i)
    contradicting += (rounds.a[i] > rounds.b[i]) == (ratio.value > 1) ? 0 : 1;
  return fmt::format("{}, which {} of {} rounds contradict", text, contradicting, rounds.a.size());
}

// Returns "A delivers 3.45 x the images/s of B (95 % interval 3.30 to 3.61): 812 against 235", or says why it cannot.
std::string compared(const Measured& a, const Measured& b, const measure::Ratio& ratio, results::Grade grade) {
  const results::SharedRounds rounds = results::shared_rounds(a.trial, b.trial);
  const std::string against =
      fmt::format("{} against {}", rate(measure::median(rounds.a)), rate(measure::median(rounds.b)));
  const std::string interval = interval_text(ratio, rounds, grade);
  const std::string measured = fmt::format("ratio {:.2f} ({}), {} images/s", ratio.value, interval, against);
  switch (grade) {
    case results::Grade::cannot_tell:
      return fmt::format("{} and {} cannot be told apart: {}", a.name(), b.name(), measured);
    case results::Grade::machine_too_busy:
      return fmt::format("The machine was too busy to compare {} with {}{}: {}", a.name(), b.name(), disturbances(a, b),
                         measured);
    case results::Grade::sample_too_small:
      if (!ratio.ci95) break;
      return fmt::format("Too few steps to compare {} with {}, as they lived off what had been buffered: {}", a.name(),
                         b.name(), measured);
    case results::Grade::told_apart:
      break;
  }
  const std::string busy = rounds.disturbed ? fmt::format("On a busy machine{}: ", disturbances(a, b)) : "";
  return fmt::format("{}{} {} {:.2f} x the images/s of {} ({}): {}", busy, a.name(), a.trains() ? "trains" : "delivers",
                     ratio.value, b.name(), interval, against);
}

// Returns whether the trials differ, but only in the settings that `equalize(spec, like)` copies from `like` to `spec`.
template <class Equalize>
bool differ_only_in(const Measured& a, const Measured& b, Equalize equalize) {
  spec::Experiment like_b = a.trial.spec;
  equalize(like_b, b.trial.spec);
  return like_b == b.trial.spec && !(a.trial.spec == b.trial.spec);
}

// Compares each of `trials` with the first one before it in `all` from which it differs only in the settings that
// `equalize` copies.
template <class Equalize>
void compare_arms(const Trials& trials, const Trials& all, const char* kind, Equalize equalize,
                  std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    const auto self =
        std::find_if(all.begin(), all.end(), [&](const Measured& other) { return &other.trial == &measured.trial; });
    const auto base = std::find_if(all.begin(), self,
                                   [&](const Measured& other) { return differ_only_in(measured, other, equalize); });
    if (base == self) continue;
    const auto ratio = results::paired_rates(measured.trial, base->trial);
    if (!ratio) continue;
    const results::Grade grade = grade_of(measured.trial, base->trial);
    findings.push_back({.kind = kind,
                        .text = compared(measured, *base, *ratio, grade) + ".",
                        .emulated = measured.trial.emulated || base->trial.emulated,
                        .grade = grade,
                        .trial = measured.trial.trial,
                        .base = base->trial.trial,
                        .ratio = *ratio});
  }
}

void find_amplification(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    const std::optional<double>& decoded = measured.figures.decoded_per_trained;
    if (!decoded || *decoded < kAmplified) continue;
    const std::string cause =
        measured.trial.ranks == 1
            ? ""
            : fmt::format(": its {} ranks decode what they do not keep; a shard behind list_files mends that",
                          measured.trial.ranks);
    add(findings, "amplification",
        fmt::format("{} decodes {:.1f} images for each one it {}{}.", measured.name(), *decoded,
                    measured.trains() ? "trains on" : "delivers", cause),
        measured.trial.emulated);
  }
}

void find_verdicts(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    for (results::Finding& finding : verdicts(measured.trial, measured.figures)) findings.push_back(std::move(finding));
  }
}

// Returns "; 12 % of the time went into communication that backward did not hide", or "" if it was hidden.
std::string communication(const results::Figures& figures) {
  const double share = figures.exposed_communication_share.value_or(0);
  if (share < kToldShare) return "";
  return fmt::format("; {:.0f} % of the time went into communication that backward did not hide", 100 * share);
}

// Returns "; rank 3 took 8 % longer than the fastest for its own part of a step", or the spread if it is small.
std::string straggler(const results::TrialResult& trial) {
  const std::optional<RankSpread> spread = rank_spread(trial);
  if (!spread) return "";
  if (spread->spread < kToldSpread) return fmt::format("; its ranks differ by {:.1f} %", 100 * spread->spread);
  return fmt::format("; rank {} took {:.0f} % longer than the fastest for its own part of a step", spread->slowest,
                     100 * spread->spread);
}

void find_scaling(const Trials& trials, std::vector<results::Finding>& findings) {
  for (const Measured& measured : trials) {
    const std::optional<double>& efficiency = measured.figures.scaling_efficiency;
    if (!efficiency || measured.trial.ranks == 1) continue;
    const char* shared = measured.trial.oversubscribed ? ", although the ranks shared cores" : "";
    const char* linear = *efficiency >= kLinearEfficiency ? ", which is linear" : "";
    add(findings, "scaling",
        fmt::format("{} reaches {:.0f} % of {} times its images/s at 1 rank (weak scaling{}){}{}{}.", measured.name(),
                    100 * *efficiency, measured.trial.ranks, shared, linear, communication(measured.figures),
                    straggler(measured.trial)),
        measured.trial.emulated);
  }
}

// Returns whether `ready_made` is the same training as `fed` over batches that no pipeline has to make.
bool is_ceiling_of(const Measured& ready_made, const Measured& fed) {
  if (spec::uses_pipeline(ready_made.trial.spec) || !spec::uses_pipeline(fed.trial.spec)) return false;
  const auto input = [](spec::Experiment& spec, const spec::Experiment& like) {
    const Deliver deliver = spec.data.deliver;
    spec.data = like.data;
    spec.data.deliver = deliver;
    spec.preprocess = like.preprocess;
    spec.pipeline = like.pipeline;
    spec.measure.page_cache = like.measure.page_cache;
  };
  return differ_only_in(fed, ready_made, input);
}

// Compares training with the same training over ready-made batches, which no input can make faster.
void find_compute_ceilings(const Trials& trials, const Trials& all, std::vector<results::Finding>& findings) {
  for (const Measured& fed : trials) {
    const auto ceiling =
        std::find_if(all.begin(), all.end(), [&](const Measured& other) { return is_ceiling_of(other, fed); });
    if (ceiling == all.end() || !fed.trains()) continue;
    const auto ratio = results::paired_rates(fed.trial, ceiling->trial);
    if (!ratio) continue;
    const results::Grade grade = grade_of(fed.trial, ceiling->trial);
    findings.push_back({.kind = "ceiling",
                        .text = fmt::format("{}; the batches of {} are ready-made, so no input can give more.",
                                            compared(fed, *ceiling, *ratio, grade), ceiling->name()),
                        .emulated = fed.trial.emulated || ceiling->trial.emulated,
                        .grade = grade,
                        .trial = fed.trial.trial,
                        .base = ceiling->trial.trial,
                        .ratio = *ratio});
  }
}

// Compares real training with the same pipeline and engine none, to say which of the two is the limit.
void find_ceilings(const Trials& trials, const Trials& all, std::vector<results::Finding>& findings) {
  const auto engine_none = [](spec::Experiment& spec, const spec::Experiment&) { spec.engine = "none"; };
  for (const Measured& training : trials) {
    if (!training.trains() || training.trial.emulated) continue;
    const auto alone = std::find_if(all.begin(), all.end(), [&](const Measured& other) {
      return !other.trains() && differ_only_in(training, other, engine_none);
    });
    if (alone == all.end()) continue;
    const double factor = alone->images_per_s() / training.images_per_s();
    const char* meaning = factor >= kCeilingFactor ? "the pipeline is not what limits this training"
                                                   : "the pipeline limits this training";
    add(findings, "ceiling",
        fmt::format("{}: {} trains {} images/s, the pipeline alone delivers {} ({:.1f} x): {}.", training.name(),
                    training.trial.engine_device.empty() ? "the device" : training.trial.engine_device,
                    rate(training.images_per_s()), rate(alone->images_per_s()), factor, meaning),
        false);
  }
}

// Returns the trial with the most ranks of each arm. A reader who wants to scale asks what holds there.
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

}  // namespace

std::vector<results::Finding> derive_findings(const std::vector<results::TrialResult>& trials) {
  Trials measured;
  for (const results::TrialResult& trial : trials) {
    const results::Figures figures = derive_figures(trial, trials);
    if (figures.images_per_s.value_or(0) > 0) measured.push_back({.trial = trial, .figures = figures});
  }
  std::vector<results::Finding> findings;
  const auto pipelines = [](spec::Experiment& spec, const spec::Experiment& like) { spec.pipeline = like.pipeline; };
  const auto formats = [](spec::Experiment& spec, const spec::Experiment& like) {
    if (spec::uses_pipeline(spec) && spec::uses_pipeline(like)) spec.data.format = like.data.format;
  };
  const auto storage = [](spec::Experiment& spec, const spec::Experiment& like) {
    spec.data.root = like.data.root;
    spec.data.store = like.data.store;
  };
  const Trials chosen = widest(measured);
  compare_arms(chosen, measured, "pipeline_ratio", pipelines, findings);
  compare_arms(chosen, measured, "format_ratio", formats, findings);
  compare_arms(chosen, measured, "storage_ratio", storage, findings);
  find_amplification(chosen, findings);
  find_verdicts(chosen, findings);
  find_scaling(chosen, findings);
  find_ceilings(chosen, measured, findings);
  find_compute_ceilings(chosen, measured, findings);
  const auto append = [&findings](std::vector<results::Finding> more) {
    findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  for (const Measured& one : chosen) append(input_findings(one.trial, one.figures));
  std::vector<const results::TrialResult*> chosen_trials;
  for (const Measured& one : chosen) chosen_trials.push_back(&one.trial);
  append(ablation_findings(chosen_trials));
  std::vector<const results::TrialResult*>
      all_trials;  // also those with fewer ranks: what is learned should not depend on the ranks
  for (const Measured& one : measured) all_trials.push_back(&one.trial);
  append(learning_findings(all_trials));
  append(economics_findings(chosen_trials));
  append(data_findings(all_trials));
  for (const Measured& one : chosen) append(gpu_findings(one.trial, one.figures));
  for (const Measured& one : measured) append(ecc_findings(one.trial, one.figures));
  return findings;
}

}  // namespace chexbench::analysis
