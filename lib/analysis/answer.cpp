#include "analysis/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "analysis/commands.hpp"
#include "analysis/comparison.hpp"
#include "analysis/derive.hpp"
#include "analysis/learning.hpp"
#include "analysis/trust.hpp"
#include "analysis/utilization.hpp"
#include "analysis/verdict.hpp"
#include "core/text.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"

namespace chexbench::analysis {
namespace {

// Returns whether the arm computes and hardly ever waits for its input.
bool is_fed(const Measured& arm) {
  return arm.figures.limit == results::LimitedBy::compute && arm.figures.wait_share.value_or(1) <= results::kFedShare;
}

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

// Returns "optimized (emulated)" or "optimized (images, emulated)": the name of the arm in a sentence, with its mark.
std::string marked_name(const Measured& arm, const std::string& name) {
  const std::string mark = results::mark_of(arm.trial);
  if (mark.empty()) return name;
  if (name.ends_with(')')) return fmt::format("{}, {}", name.substr(0, name.size() - 1), mark.substr(1));
  return fmt::format("{} {}", name, mark);
}

// Returns "optimized (images, 2 ranks) keeps 2 V100s (emulated) fed: 748 images/s".
std::string rate_clause(const Measured& arm, const std::string& name) {
  const std::string images_per_s = rate_text(arm.images_per_s());
  if (is_fed(arm)) return fmt::format("{} keeps {} fed: {} images/s", name, devices(arm.trial), images_per_s);
  return fmt::format("{} {} {} images/s", marked_name(arm, name), arm.has_engine() ? "trains" : "delivers",
                     images_per_s);
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

// Returns "images, 2 ranks": the settings besides `aspect` in which the trial differs from others of the run.
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

// Returns "optimized (images, 2 ranks) keeps 2 V100s (emulated) fed: 748 images/s, 1.70 x naive (95 % interval 1.60 to
// 1.80)." or why the two cannot be told apart.
std::string pair_sentence(const Pair& pair, const std::string& subject, const std::string& base) {
  const auto& [trial, other, ratio, grade] = pair;
  const std::string name = marked_name(trial, subject);
  const std::string measured = fmt::format("{} and {} images/s, ratio {:.2f} ({})", rate_text(trial.images_per_s()),
                                           rate_text(other.images_per_s()), ratio.value, interval_of(ratio));
  if (const std::string why = why_unclear(pair, name, base, measured); !why.empty()) return why + ".";
  return fmt::format("{}, {:.2f} x {} ({}).", rate_clause(trial, subject), ratio.value, base, interval_of(ratio));
}

// Returns the same for one arm, with the interval of its images/s.
std::string arm_sentence(const Measured& arm, const std::string& name) {
  const auto& ci95 = arm.figures.images_per_s_ci95;
  return fmt::format(
      "{} ({}).", rate_clause(arm, name),
      ci95 ? fmt::format("95 % interval {} to {}", rate_text(ci95->low), rate_text(ci95->high)) : spec::kNoInterval);
}

// Returns what limits the arm, or "" if unknown. Leaves out that it is fed if `fed_is_said`.
std::string limit_sentence(const Measured& arm, const std::string& name, bool fed_is_said) {
  if (!arm.has_engine()) return cores_sentence(arm, name);
  const std::optional<results::Finding> verdict = verdict_of(arm);
  if (!verdict || (verdict->kind == "fed" && fed_is_said)) return "";
  return fmt::format("{} {}.{}{}", marked_name(arm, name), verdict->headline, verdict->reason.empty() ? "" : " ",
                     verdict->reason);
}

// Returns how far the arm scales, or "" if that was not measured.
std::string scaling_sentence(const Measured& arm, const std::string& name) {
  const std::optional<double>& efficiency = arm.figures.scaling_efficiency;
  if (!efficiency || arm.trial.ranks == 1) return "";
  const auto& ci95 = arm.figures.scaling_efficiency_ci95;
  return fmt::format(
      "{} reaches {:.0f} % of {} times its images/s at 1 rank ({}).", marked_name(arm, name), 100 * *efficiency,
      arm.trial.ranks,
      ci95 ? fmt::format("95 % interval {:.0f} to {:.0f} %", 100 * ci95->low, 100 * ci95->high) : spec::kNoInterval);
}

// Returns whether the arm waits for its input for a known reason.
bool waits(const Measured& arm) {
  return arm.figures.limit == results::LimitedBy::cpu || arm.figures.limit == results::LimitedBy::input;
}

// Returns advice about the limit.
Advice limit_advice(const Measured& arm) {
  if (!arm.has_engine()) return accelerator_advice(arm.trial.spec);
  const std::optional<results::Finding> verdict = verdict_of(arm);
  if (!verdict) return {};
  if (verdict->kind == "fed") return {.advice = "leave its input as it is: it keeps up", .command = ""};
  Advice advice{.advice = verdict->advice, .command = verdict->command};
  if (!advice.advice.empty())
    advice.advice.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(advice.advice.front())));
  return advice;
}

constexpr std::size_t kMostArmsInALine = 4;

// Returns "a and of b", or "4 trials" for more than two.
std::string several(const std::vector<std::string>& names) {
  return names.size() > 2 ? fmt::format("{} trials", names.size()) : fmt::format("{}", fmt::join(names, " and of "));
}

// Makes the answer from the arms of a report.
class Teller {
 public:
  explicit Teller(const Evaluation& evaluation)
      : report_(evaluation.report), measured_(evaluation.measured), chosen_(competitors(widest(measured_))) {}

  Answer tell() {
    if (chosen_.empty()) return nothing();
    if (const std::optional<Choice> choice = choose_pair(chosen_, measured_)) {
      tell_pair(*choice);
    } else if (chosen_.size() == 1) {
      tell_arm(chosen_.front());
    } else {
      tell_arms();
    }
    return finish();
  }

 private:
  Answer nothing() const {
    Answer answer{.lines = {"Nothing was measured."}};
    if (report_.interrupted) answer.lines.front() = "Nothing was measured: the run ended before its first repeat did.";
    for (const results::Finding& finding : report_.findings) {
      if (answer.lines.size() + 1 < kMostAnswerLines) answer.lines.push_back(finding.text);
    }
    return answer;
  }

  void tell_pair(const Choice& choice) {
    const Pair& pair = choice.pair;
    const std::string context = circumstances(report_.trials, pair.trial.trial, *choice.aspect);
    const std::string base = pair.base_name(*choice.aspect);
    const std::string name = pair.trial_name(*choice.aspect);
    tell_learned(pair.trial, name);
    must_.push_back(pair_sentence(pair, context.empty() ? name : fmt::format("{} ({})", name, context), base));
    const bool is_told = pair.grade == results::Grade::told_apart;
    const bool both_busy = pair.base.figures.limit == results::LimitedBy::machine &&
                           pair.trial.figures.limit == results::LimitedBy::machine;
    if (pair.base.has_engine() && !both_busy) tell_limit(pair.base, base, is_told);
    tell_limit(pair.trial, name, is_told);
    tell_doubts(pair.trial, name, pair.grade);
    tell_doubts(pair.base, base, pair.grade);
    for (const Aspect& aspect : input_aspects()) {
      if (&aspect != choice.aspect) tell_other_aspect(pair.trial, name, aspect);
    }
    tell_scaling(pair.trial, name);
    answer_.base = pair.base.trial.name;
    answer_.ratio = pair.ratio;
    answer_.grade = pair.grade;
    answer_.emulated = pair.base.trial.emulated;
    fill_in(pair.trial);
    if (waits(pair.base)) fill_in_wait(pair.base);
    advise_pair(choice);
  }

  void tell_arm(const Measured& arm) {
    const std::string name = arm.trial.name;
    tell_learned(arm, name);
    must_.push_back(arm_sentence(arm, name));
    tell_limit(arm, name, true);
    tell_doubts(arm, name, results::Grade::told_apart);
    tell_scaling(arm, name);
    fill_in(arm);
    advise(limit_advice(arm));
  }

  // Describes arms that do different work, such as those of several networks.
  void tell_arms() {
    std::vector<std::string> rates;
    for (const Measured& arm : chosen_) {
      if (rates.size() < kMostArmsInALine)
        rates.push_back(fmt::format("{} {} {} images/s", arm.name(), arm.has_engine() ? "trains" : "delivers",
                                    rate_text(arm.images_per_s())));
    }
    answer_.emulated = std::ranges::any_of(chosen_, [](const Measured& arm) { return arm.trial.emulated; });
    const std::size_t untold = chosen_.size() - rates.size();
    must_.push_back(
        fmt::format("{}{}.", fmt::join(rates, ", "), untold == 0 ? "" : fmt::format(", and {} more", untold)));
    const auto cost = [](const Measured& arm) { return verdict_of(arm).value_or(results::Finding{}).worth_share; };
    const auto costliest = std::ranges::max_element(chosen_, {}, cost);
    tell_limit(*costliest, costliest->trial.name, false);
    for (const Measured& arm : chosen_) tell_doubts(arm, arm.trial.name, results::Grade::told_apart);
    advise(limit_advice(*costliest));
  }

  void tell_learned(const Measured& arm, const std::string& name) {
    for (const results::Finding& finding : learning_findings({&arm.trial}))
      must_.push_back(fmt::format("{} {}. {}", name, finding.headline, finding.reason));
  }

  void tell_limit(const Measured& arm, const std::string& name, bool fed_is_said) {
    const std::string utilization = utilization_sentence(arm.trial, arm.figures, marked_name(arm, name));
    if (!utilization.empty()) must_.push_back(utilization);
    const std::string text = limit_sentence(arm, name, fed_is_said);
    if (!text.empty()) must_.push_back(text);
  }

  // Notes doubts about the images/s of the arm.
  void tell_doubts(const Measured& arm, const std::string& name, results::Grade said) {
    const std::string marked = marked_name(arm, name);
    if (results::is_disturbed(arm.trial) && said != results::Grade::machine_too_busy &&
        arm.figures.limit != results::LimitedBy::machine) {
      disturbed_.push_back(marked);
      most_disturbed_ = std::max(most_disturbed_, most_disturbed_share(arm.trial));
    }
    if (arm.trial.unstable) unstable_.push_back(marked);
    if (arm.figures.buffer_fed && said != results::Grade::sample_too_small &&
        arm.figures.limit != results::LimitedBy::sample)
      buffer_fed_.push_back(marked);
  }

  // Returns the doubts as one line, or "" if there are none.
  std::string doubts() const {
    std::vector<std::string> sentences;
    if (report_.interrupted) sentences.emplace_back("The run ended early: these are the measurements up to then.");
    if (!disturbed_.empty()) {
      sentences.push_back(fmt::format("Other processes used up to {:.0f} % of the cores of {}.", 100 * most_disturbed_,
                                      several(disturbed_)));
    }
    if (!unstable_.empty()) {
      sentences.push_back(fmt::format("The repeats of {} differ too much for a reliable median.", several(unstable_)));
    }
    if (!buffer_fed_.empty()) {
      sentences.push_back(
          fmt::format("The measured steps of {} used up batches that were ready before: raise measure.steps.",
                      several(buffer_fed_)));
    }
    return fmt::format("{}", fmt::join(sentences, " "));
  }

  void tell_other_aspect(const Measured& arm, const std::string& name, const Aspect& aspect) {
    for (const Pair& pair : pairs(chosen_, measured_, aspect)) {
      if (&pair.base.trial != &arm.trial && &pair.trial.trial != &arm.trial) continue;
      may_.push_back(
          fmt::format("With {}: {}", name, pair_sentence(pair, pair.trial_name(aspect), pair.base_name(aspect))));
      return;
    }
  }

  // Disturbance at either end of the scaling would look like bad or good scaling.
  void tell_scaling(const Measured& arm, const std::string& name) {
    const bool is_doubtful = std::ranges::any_of(measured_, [&arm](const Measured& other) {
      return same_arm(other.trial, arm.trial) && results::is_disturbed(other.trial);
    });
    const std::string text = is_doubtful ? "" : scaling_sentence(arm, name);
    if (!text.empty()) may_.push_back(text);
  }

  void fill_in(const Measured& arm) {
    answer_.trial = arm.trial.name;
    answer_.emulated = answer_.emulated || arm.trial.emulated;
    answer_.images_per_s = arm.figures.images_per_s;
    answer_.images_per_s_ci95 = arm.figures.images_per_s_ci95;
    if (arm.has_engine()) fill_in_wait(arm);
  }

  void fill_in_wait(const Measured& arm) {
    answer_.waiting = arm.trial.name;
    answer_.wait_share = arm.figures.wait_share;
    if (waits(arm)) answer_.wait_cause = wait_cause(arm.trial, arm.figures);
  }

  void advise_pair(const Choice& choice) {
    const auto& [trial, base, ratio, grade] = choice.pair;
    if (grade == results::Grade::machine_too_busy || grade == results::Grade::sample_too_small) {
      const results::Finding doubt = comparison("", choice.pair, "", "");
      return advise({.advice = doubt.advice, .command = doubt.command});
    }
    Advice advice = is_fed(trial) ? Advice{} : limit_advice(trial);
    if (grade == results::Grade::told_apart) {
      const Measured& faster = ratio.value > 1 ? trial : base;
      const std::string& name =
          ratio.value > 1 ? choice.pair.trial_name(*choice.aspect) : choice.pair.base_name(*choice.aspect);
      const std::string use = fmt::format("use {}", name);
      advice = is_fed(faster) ? Advice{} : limit_advice(faster);
      advice.advice = advice.advice.empty() ? use + "." : fmt::format("{}; then {}", use, advice.advice);
    }
    advise(std::move(advice));
  }

  void advise(Advice advice) {
    answer_.advice = sentence_of(std::move(advice.advice));
    answer_.command = with_spec_of(report_.environment, advice.command);
  }

  Answer finish() {
    std::vector<std::string>& lines = answer_.lines;
    lines = std::move(must_);
    const std::string doubt = doubts();
    if (!doubt.empty()) lines.push_back(doubt);
    const std::size_t room = kMostAnswerLines - (answer_.advice.empty() ? 0 : 1) - (answer_.command.empty() ? 0 : 1);
    for (std::string& line : may_) {
      if (lines.size() < room) lines.push_back(std::move(line));
    }
    while (lines.size() > room) lines.erase(std::prev(lines.end(), doubt.empty() ? 1 : 2));
    if (!answer_.advice.empty()) lines.push_back("Do: " + answer_.advice);
    if (!answer_.command.empty()) lines.push_back(answer_.command);
    return std::move(answer_);
  }

  const results::Report& report_;
  const Trials& measured_;
  const Trials chosen_;
  Answer answer_;
  std::vector<std::string> must_, may_, disturbed_, unstable_, buffer_fed_;
  double most_disturbed_ = 0;
};

}  // namespace

Answer derive_answer(const Evaluation& evaluation) { return Teller(evaluation).tell(); }

std::vector<const results::Finding*> by_worth(const std::vector<results::Finding>& findings) {
  std::vector<const results::Finding*> order;
  for (const results::Finding& finding : findings) order.push_back(&finding);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const results::Finding* finding) {
    return std::pair(finding->worth_share, !finding->advice.empty());
  });
  return order;
}

}  // namespace chexbench::analysis
