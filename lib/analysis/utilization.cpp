#include "analysis/utilization.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/commands.hpp"
#include "analysis/finding_parts.hpp"
#include "analysis/starvation.hpp"
#include "measure/mean.hpp"
#include "results/disturbance.hpp"
#include "results/labels.hpp"

namespace chexbench::analysis {
namespace {

constexpr double kMost = 0.5;  // of the waits, from which they are called bound by one thing

// The shares of the waits that went into reading, and into making pixels of what was read. Without waits all are 0.
struct InputParts {
  double reading = 0;
  double decoding = 0;  // parse, decode, resize
};

InputParts input_parts(const results::Figures& figures) {
  InputParts parts;
  double all = 0;
  for (const results::WaitShare& wait : figures.waits) {
    all += wait.share;
    const bool reads = wait.part == "read" || (wait.part.empty() && (wait.op == "read" || wait.op == "interleave"));
    if (reads) parts.reading += wait.share;
    if (wait.part == "parse" || wait.part == "decode" || wait.part == "resize") parts.decoding += wait.share;
  }
  if (all <= 0) return {};
  return {.reading = parts.reading / all, .decoding = parts.decoding / all};
}

// Others may have made such waits, or too few steps may have hidden them.
bool is_doubtful(const results::Figures& figures) { return figures.limit == "machine" || figures.limit == "sample"; }

std::string cores_clause(const results::Figures& figures) {
  if (!figures.cores_busy_share) return "";
  return fmt::format("; the cores are {} busy", whole_percent(*figures.cores_busy_share));
}

// Returns "Decoding and resizing make up 93 % of its waits, reading 4 %; the cores are 98 % busy." or "".
std::string parts_sentence(const results::Figures& figures) {
  if (figures.waits.empty()) return "";
  const InputParts parts = input_parts(figures);
  return fmt::format("Decoding and resizing make up {} of its waits, reading {}{}.", whole_percent(parts.decoding),
                     whole_percent(parts.reading), cores_clause(figures));
}

std::string mark_of_bound(const results::Figures& figures) {
  if (is_doubtful(figures)) return "; why cannot be told";
  const std::string bound = input_bound(figures);
  return bound.empty() ? "" : ": " + bound;
}

// A target such as 0.855 has a digit that counts.
std::string target_text(double target) { return fmt::format("{:.4g} %", 100 * target); }

FindingParts parts_of(const results::TrialResult& trial, const results::Figures& figures, double au) {
  const std::string target = target_text(*trial.spec.measure.target_au);
  if (*passes(trial)) return {.headline = fmt::format("passes with an AU of {:.1f} %, of {} needed", 100 * au, target)};
  FindingParts parts{.headline = fmt::format("fails with an AU of {:.1f} %, of {} needed", 100 * au, target),
                     .worth_share = 1 - au};
  if (is_doubtful(figures)) {
    parts.reason = "Others took cores or the sample is too small, so that why cannot be told.";
    return parts;
  }
  const std::string bound = input_bound(figures);
  parts.reason = bound.empty() ? "" : fmt::format("It is {}: {}", bound, parts_sentence(figures));
  const InputParts input = input_parts(figures);
  if (input.decoding >= kMost) {
    parts.advice = "Give it more cores or decode less, as faster storage would gain nothing.";
    parts.command = advise_command(trial);
  } else if (input.reading >= kMost) {
    parts.advice = "Read from faster storage or more at once, as more cores would gain nothing.";
  }
  return parts;
}

}  // namespace

std::optional<double> accelerator_utilization(const results::TrialResult& trial,
                                              const std::vector<const results::RepeatResult*>& repeats) {
  if (!trial.emulated) return std::nullopt;
  double computing_s = 0, run_s = 0;
  for (const results::RepeatResult* repeat : repeats) {
    for (const results::StepRecord& step : repeat->steps) computing_s += step.timings.compute_s + step.timings.update_s;
    run_s += repeat->wall_s * trial.ranks;
  }
  return run_s > 0 ? std::optional(computing_s / run_s) : std::nullopt;
}

std::vector<double> utilization_of_repeats(const results::TrialResult& trial) {
  std::vector<double> all;
  for (const results::RepeatResult* repeat : results::counted_repeats(trial)) {
    if (const auto au = accelerator_utilization(trial, {repeat})) all.push_back(*au);
  }
  return all;
}

std::optional<bool> passes(const results::TrialResult& trial) {
  const std::vector<double> all = utilization_of_repeats(trial);
  if (all.empty()) return std::nullopt;
  return measure::mean(all) >= trial.spec.measure.target_au.value_or(kUsualTargetAu);
}

std::string input_bound(const results::Figures& figures) {
  if (figures.waits.empty() || is_doubtful(figures)) return "";
  const InputParts parts = input_parts(figures);
  if (parts.decoding >= kMost) return "decode-bound, not storage-bound";
  if (parts.reading >= kMost) return "storage-bound, not decode-bound";
  return "bound by " + figures.wait_op;
}

std::string utilization_sentence(const results::TrialResult& trial, const results::Figures& figures,
                                 const std::string& name) {
  const std::vector<double> all = utilization_of_repeats(trial);
  if (!trial.spec.measure.target_au || all.empty()) return "";
  const bool is_passed = *passes(trial);
  return fmt::format("{} has an AU of {:.1f} %, which {} the pass mark of {}{}.", name, 100 * measure::mean(all),
                     is_passed ? "reaches" : "fails", target_text(*trial.spec.measure.target_au),
                     is_passed ? "" : mark_of_bound(figures));
}

std::vector<results::Finding> utilization_findings(const results::TrialResult& trial, const results::Figures& figures) {
  std::string text = utilization_sentence(trial, figures, results::marked(trial));
  if (text.empty()) return {};
  if (!*passes(trial) && !is_doubtful(figures) && !figures.waits.empty()) text += " " + parts_sentence(figures);
  return {
      finding_about(trial, "au", std::move(text), parts_of(trial, figures, measure::mean(utilization_of_repeats(trial))))};
}

}  // namespace chexbench::analysis
