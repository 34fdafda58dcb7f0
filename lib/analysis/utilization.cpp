#include "analysis/utilization.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>

#include "analysis/commands.hpp"
#include "analysis/findings.hpp"
#include "core/text.hpp"
#include "measure/statistics.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"

namespace chexbench::analysis {
namespace {

// The minimum share of the waits due to reading and decoding ops for the input to be called bound by either.
constexpr double kMost = 0.5;

// The causes of waits for images, as shares of the time that threads worked on parts of an image.
struct InputParts {
  bool known = false;  // most waits are for ops that read or decode and that timed their parts
  double reading = 0;
  double decoding = 0;  // parse, decode and resize
};

// The time that a decoding op books as "other" is mostly its threads waiting for a core, so it does not count as work.
InputParts input_parts(const results::Figures& figures) {
  double all = 0, of_images = 0, reading = 0, decoding = 0;
  for (const results::WaitShare& wait : figures.waits) {
    const bool reads = wait.part == "read" || (wait.part.empty() && spec::rule_or_none(wait.op).reads());
    const bool decodes = wait.part == "parse" || wait.part == "decode" || wait.part == "resize";
    all += wait.share;
    if (reads) reading += wait.share;
    if (decodes) decoding += wait.share;
    if (reads || !wait.part.empty()) of_images += wait.share;
  }
  const double timed = reading + decoding;
  if (timed <= 0 || of_images < kMost * all) return {};
  return {.known = true, .reading = reading / timed, .decoding = decoding / timed};
}

// Other processes may have caused such waits, or too few steps may have hidden them.
bool is_doubtful(const results::Figures& figures) {
  return figures.limit == results::LimitedBy::machine || figures.limit == results::LimitedBy::sample;
}

std::string cores_clause(const results::Figures& figures) {
  if (!figures.cores_busy_share) return "";
  return fmt::format("; the cores are {} busy", whole_percent(*figures.cores_busy_share));
}

// Returns "Decoding and resizing take 93 % of the work on an image, reading 7 %; the cores are 98 % busy." or "".
std::string parts_sentence(const results::Figures& figures) {
  const InputParts parts = input_parts(figures);
  if (!parts.known) return "";
  return fmt::format("Decoding and resizing take {} of the work on an image, reading {}{}.",
                     whole_percent(parts.decoding), whole_percent(parts.reading), cores_clause(figures));
}

std::string mark_of_bound(const results::Figures& figures) {
  if (is_doubtful(figures)) return "; the reason is unclear";
  const std::string bound = input_bound(figures);
  return bound.empty() ? "" : ": " + bound;
}

std::string lower_first(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

// Returns a utilization, rounded down: one just below its target must not appear to reach it.
std::string utilization_text(double au) { return fmt::format("{:.1f} %", std::floor(1000 * au + 1e-6) / 10); }

// The last digit of a target such as 0.855 matters.
std::string target_text(double target) { return fmt::format("{:.4g} %", 100 * target); }

FindingParts parts_of(const results::TrialResult& trial, const results::Figures& figures, double au) {
  const std::string target = target_text(*trial.spec.measure.target_au);
  if (*passes(trial))
    return {.headline = fmt::format("passes with an AU of {}, of {} needed", utilization_text(au), target)};
  FindingParts parts{.headline = fmt::format("fails with an AU of {}, of {} needed", utilization_text(au), target),
                     .worth_share = 1 - au};
  if (is_doubtful(figures)) {
    parts.reason = "Other processes used cores, or the sample is too small to say why.";
    return parts;
  }
  const std::string bound = input_bound(figures);
  const std::string why = parts_sentence(figures);
  if (!bound.empty()) parts.reason = fmt::format("It is {}{}{}", bound, why.empty() ? "." : ": ", lower_first(why));
  const InputParts input = input_parts(figures);
  if (!input.known) return parts;
  if (input.decoding >= input.reading) {
    parts.advice = "Give it more cores or decode less; faster storage would gain nothing.";
    parts.command = advise_command(trial);
  } else {
    parts.advice = "Read from faster storage or more at once; more cores would gain nothing.";
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
  if (!parts.known) return "bound by " + figures.wait_op;
  return parts.decoding >= parts.reading ? "decode-bound, not storage-bound" : "storage-bound, not decode-bound";
}

std::string utilization_sentence(const results::TrialResult& trial, const results::Figures& figures,
                                 const std::string& name) {
  const std::vector<double> all = utilization_of_repeats(trial);
  if (!trial.spec.measure.target_au || all.empty()) return "";
  const bool is_passed = *passes(trial);
  return fmt::format("{} has an AU of {}, which {} the pass mark of {}{}.", name, utilization_text(measure::mean(all)),
                     is_passed ? "reaches" : "misses", target_text(*trial.spec.measure.target_au),
                     is_passed ? "" : mark_of_bound(figures));
}

std::vector<results::Finding> utilization_findings(const results::TrialResult& trial, const results::Figures& figures) {
  std::string text = utilization_sentence(trial, figures, results::marked(trial));
  if (text.empty()) return {};
  const std::string parts = *passes(trial) || is_doubtful(figures) ? "" : parts_sentence(figures);
  if (!parts.empty()) text += " " + parts;
  return {finding_about(trial, "au", std::move(text),
                        parts_of(trial, figures, measure::mean(utilization_of_repeats(trial))))};
}

std::string starved_sentence(const Waiting& waiting) {
  return fmt::format(
      "{} starves its accelerator: it waits for batches {:.0f} % of the time{}; {} {}/s; at most {} without the "
      "wait.",
      waiting.name, 100 * waiting.wait_share, waiting.why, rate_text(waiting.images_per_s), waiting.unit,
      rate_text(waiting.images_per_s_without_wait));
}

std::string fed_sentence(const Waiting& waiting) {
  const std::string busy =
      waiting.busy_share ? fmt::format(" and is busy for {:.0f} %", 100 * *waiting.busy_share) : "";
  return fmt::format("{} keeps its accelerator fed: it waits for {:.1f} % of the time{}, {} {}/s.", waiting.name,
                     100 * waiting.wait_share, busy, rate_text(waiting.images_per_s), waiting.unit);
}

std::string whole_percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace chexbench::analysis
