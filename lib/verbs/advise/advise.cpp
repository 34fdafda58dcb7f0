#include "verbs/advise/advise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/trust.hpp"
#include "analysis/verdict.hpp"
#include "bench/plan.hpp"
#include "bench/rank_layout.hpp"
#include "comm/communicator.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "formats/shards.hpp"
#include "measure/memory_state.hpp"
#include "report/text_table.hpp"
#include "results/figures.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/interval.hpp"
#include "spec/keys.hpp"
#include "spec/parse.hpp"
#include "spec/resolved.hpp"
#include "verbs/advise/edits.hpp"
#include "verbs/advise/input_model.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

constexpr int kMostSets = 3;         // sets of repeats, if the interval leaves open whether an edit gains
constexpr double kPromising = 1.01;  // predicted ratio from which an edit is tried

// An edit that has not been tried, and the gain that the input model predicts.
struct Candidate {
  Edit edit;
  double predicted_ratio = 1;
};

// Returns whether more repeats could reveal a gain.
bool is_open(const AdviceTry& attempt) {
  const bool is_busy = attempt.grade == results::Grade::machine_too_busy;
  return !attempt.kept && attempt.ratio && attempt.ratio->ci95 && (is_busy || attempt.ratio->value >= kPromising);
}

// Appends the repeats of `set` to the trial with consecutive numbers, and returns it.
const results::TrialResult& pooled(results::TrialResult& trial, const results::TrialResult& set) {
  if (trial.repeats.empty()) return trial = set;
  const auto first = static_cast<int>(trial.repeats.size());
  for (const results::RepeatResult& repeat : set.repeats) trial.repeats.emplace_back(repeat).repeat += first;
  return trial;
}

class Adviser {
 public:
  Adviser(const spec::Trial& trial, comm::World& world, const AdviceOptions& options)
      : world_(world), options_(options), end_s_(now_s() + options.budget_s), first_(trial.spec) {
    first_.measure.repeats = std::max(first_.measure.repeats, spec::kRepeatsForInterval);
    first_.measure.extra_repeats = 0;  // replaced by sets of repeats
    best_ = first_;
    result_.advice.trial = trial.name;
  }

  AdviceResult run() {
    if (is_root()) log::info("measuring the trial as it is, {} repeats", first_.measure.repeats);
    const double begin_s = now_s();
    const results::Report before = measure({first_});
    if (is_root()) {
      result_.advice.try_s = 2 * (now_s() - begin_s);  // both arms alternate
      begin(before.trials.front());
    }
    while (const std::optional<Candidate> candidate = agree_on_next()) try_edit(*candidate);
    conclude_advice();
    result_.best = agree(result_.advice.withdrawn) ? first_ : best_;
    return std::move(result_);
  }

 private:
  bool is_root() const { return world_.communicator().rank() == 0; }

  // Measures the experiments alternately. Only rank 0's report has the results.
  results::Report measure(const std::vector<spec::TrialSpec>& experiments) {
    std::vector<spec::Trial> trials;
    for (const spec::TrialSpec& experiment : experiments) trials.push_back({experiment.pipeline.name, experiment});
    results::Report report = bench::plan_report(first_.name, trials, world_);
    bench::run_trials(report, world_, options_.run);
    return report;
  }

  void begin(const results::TrialResult& trial) {
    Advice& advice = result_.advice;
    const results::Figures figures = analysis::derive_figures(trial, {trial});
    advice.ranks = trial.ranks;
    advice.emulated = trial.emulated;
    advice.images_per_s_before = advice.images_per_s_after = *figures.images_per_s;
    const std::vector<results::Finding> verdicts = analysis::verdicts(trial, figures);
    if (!verdicts.empty()) advice.verdict = verdicts.front().text;
    place_ = {.ranks = trial.ranks,
              .cores_per_rank = trial.cores_per_rank,
              .has_tfrecords =
                  formats::present_shard_count(storage::DataRoot(trial.spec.data), trial.spec.data.split).has_value(),
              .images = trial.data.images,
              .files = trial.data.files,
              .cache_bytes = measure::probe_memory().available_bytes / 2 / static_cast<std::uint64_t>(trial.ranks)};
    costs_ = measured_costs(trial);
  }

  double predict(const spec::TrialSpec& experiment) const {
    InputCosts costs = costs_;
    if (experiment.data.format != best_.data.format) costs.read_s = 0;  // the best case, because it was not measured
    costs.batch_s *= static_cast<double>(image_bytes(experiment)) / static_cast<double>(image_bytes(best_));
    return predicted_images_per_s(experiment, place_.ranks, place_.cores_per_rank, costs);
  }

  // Returns the untried edits, the most promising first. Edits that gain only from the second epoch on come last.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> left;
    const double now = predict(best_);
    for (Edit& edit : possible_edits(best_, place_)) {
      if (tried_.contains(edit.name) || options_.without.contains(edit.name)) continue;
      const double ratio = now > 0 ? predict(edit.edited) / now : 1;
      left.push_back({.edit = std::move(edit), .predicted_ratio = ratio});
    }
    std::ranges::stable_sort(left, {}, [](const Candidate& candidate) {
      return std::pair(candidate.edit.needs_epoch, -candidate.predicted_ratio);
    });
    return left;
  }

  std::optional<Candidate> next() {
    for (Candidate& candidate : candidates()) {
      if (candidate.predicted_ratio < kPromising && !candidate.edit.saves_memory) continue;
      if (now_s() + needed_s(candidate.edit) < end_s_) return std::move(candidate);
      result_.advice.out_of_time = true;
    }
    return {};
  }

  // Returns the seconds for a try of the edit, plus the final comparison of all edits if there will be several.
  double needed_s(const Edit& edit) const {
    const double warm_up_s = edit.needs_epoch ? first_.measure.repeats * static_cast<double>(place_.images) /
                                                    result_.advice.images_per_s_after
                                              : 0;
    return (best_ == first_ ? 1 : 2) * (result_.advice.try_s + warm_up_s);
  }

  // Returns the next edit on every rank, or std::nullopt if there is none. Rank 0 decides; the others get only its
  // spec.
  std::optional<Candidate> agree_on_next() {
    std::optional<Candidate> candidate = is_root() ? next() : std::nullopt;
    const std::string text =
        comm::broadcast_text(world_.communicator(), candidate ? spec::to_json(candidate->edit.edited) : "");
    if (text.empty()) return {};
    if (!candidate) candidate.emplace();
    candidate->edit.edited = spec::parse_trial(text, "an edit");
    return candidate;
  }

  void try_edit(const Candidate& candidate) {
    const auto& [edit, predicted_ratio] = candidate;
    AdviceTry attempt{
        .edit = edit.name, .why = edit.why, .saves_memory = edit.saves_memory, .predicted_ratio = predicted_ratio};
    if (is_root()) log::info("trying {}: predicted {:.2f} x the images/s", edit.name, predicted_ratio);
    results::TrialResult before, after;
    bool again = true;
    for (int set = 0; again; ++set) {
      const results::Report both = measure({best_, edit.edited});
      if (is_root()) {
        judge(attempt, pooled(before, both.trials[0]), pooled(after, both.trials[1]));
      }
      again = agree(is_root() && is_open(attempt) && set + 1 < kMostSets && now_s() + needed_s(edit) < end_s_);
    }
    if (is_root()) {
      if (attempt.kept) {
        // The ratio of a single kept edit belongs to the rounds of its try.
        if (best_ == first_) result_.advice.images_per_s_before = results::median_rate(before);
        if (is_possible(edit.name, edit.edited)) repeatable_.insert(edit.name);
        costs_ = measured_costs(after);
        result_.advice.images_per_s_after = attempt.images_per_s;
      }
      result_.advice.tries.push_back(attempt);
      tried_.insert(edit.name);
    }
    if (agree(attempt.kept)) best_ = edit.edited;
  }

  static void judge(AdviceTry& attempt, const results::TrialResult& before, const results::TrialResult& after) {
    attempt.ratio = results::paired_rates(after, before);
    if (attempt.ratio) attempt.grade = analysis::grade_of(after, before, *attempt.ratio);
    attempt.images_per_s = results::median_rate(after);
    attempt.kept = is_kept(attempt);
  }

  // Returns whether the edit would change the trial: if so, the trial lacks it, or it can be repeated.
  bool is_possible(const std::string& name, const spec::TrialSpec& trial) const {
    const std::vector<Edit> edits = possible_edits(trial, place_);
    return std::ranges::find(edits, name, &Edit::name) != edits.end();
  }

  // Returns rank 0's argument on every rank.
  bool agree(bool yes) { return comm::broadcast_flag(world_.communicator(), yes); }

  // Measures all edits together against the original trial, unless only one was kept, whose try did just that. Edits
  // that cannot be shown to be faster together are withdrawn.
  void conclude_advice() {
    const bool several = agree(is_root() && std::ranges::count_if(result_.advice.tries, &AdviceTry::kept) > 1);
    const results::Report both = several ? measure({first_, best_}) : results::Report{};
    if (!is_root()) return;
    Advice& advice = result_.advice;
    conclude_kept(both);
    for (AdviceTry& attempt : advice.tries) {
      attempt.replaced = attempt.kept && !repeatable_.contains(attempt.edit) && is_possible(attempt.edit, best_);
      if (attempt.replaced || advice.withdrawn) attempt.kept = false;
    }
    for (const Candidate& candidate : candidates()) {
      advice.tries.push_back({.edit = candidate.edit.name,
                              .why = candidate.edit.why,
                              .saves_memory = candidate.edit.saves_memory,
                              .predicted_ratio = candidate.predicted_ratio});
    }
  }

  // Fills in the combined result of the kept edits; `both` has measurements if there are several.
  void conclude_kept(const results::Report& both) {
    Advice& advice = result_.advice;
    const auto one = std::ranges::find_if(advice.tries, &AdviceTry::kept);
    if (one == advice.tries.end()) return;
    AdviceTry together = *one;
    if (!both.trials.empty()) {
      together.saves_memory = std::ranges::all_of(
          advice.tries, [](const AdviceTry& attempt) { return !attempt.kept || attempt.saves_memory; });
      judge(together, both.trials[0], both.trials[1]);
      advice.images_per_s_before = results::median_rate(both.trials[0]);
    }
    advice.ratio = together.ratio;
    advice.grade = together.grade;
    advice.images_per_s_after = together.images_per_s;
    advice.withdrawn = !together.kept;
  }

  comm::World& world_;
  const AdviceOptions& options_;
  const double end_s_;
  spec::TrialSpec first_;
  spec::TrialSpec best_;
  EditPlace place_;                   // filled on rank 0 only, like the members below
  InputCosts costs_;                  // of the best trial so far
  std::set<std::string> tried_;       // names of edits
  std::set<std::string> repeatable_;  // those that could be repeated right after being made
  AdviceResult result_;
};

Json ratio_to_json(const std::optional<measure::Ratio>& ratio) {
  if (!ratio) return nullptr;
  return {{"value", ratio->value}, {"ci95", interval_to_json(ratio->ci95)}};
}

Json try_to_json(const AdviceTry& attempt) {
  return {{"edit", attempt.edit},
          {"why", attempt.why},
          {"saves_memory", attempt.saves_memory},
          {"predicted_ratio", attempt.predicted_ratio},
          {"ratio", ratio_to_json(attempt.ratio)},
          {"images_per_s", attempt.ratio ? Json(attempt.images_per_s) : Json(nullptr)},
          {"grade", attempt.ratio ? Json(results::to_string(attempt.grade)) : Json(nullptr)},
          {"kept", attempt.kept},
          {"replaced", attempt.replaced}};
}

std::string measured(const AdviceTry& attempt) {
  if (!attempt.ratio) return "not tried";
  const std::string interval = report::interval_text(attempt.ratio);
  return report::times(attempt.ratio->value) + (interval.empty() ? "" : fmt::format(" ({})", interval));
}

std::string kept(const AdviceTry& attempt) {
  if (attempt.replaced) return "replaced by a later one";
  if (attempt.kept) return attempt.saves_memory ? "yes: saves memory" : "yes";
  if (!attempt.ratio) return "";
  return attempt.grade == results::Grade::told_apart ? "no" : fmt::format("no: {}", results::to_string(attempt.grade));
}

// Returns whether a busy machine left an edit undecided.
bool left_open(const Advice& advice) {
  return std::ranges::any_of(advice.tries, [](const AdviceTry& attempt) {
    return attempt.ratio && attempt.grade == results::Grade::machine_too_busy;
  });
}

std::string outcome(const Advice& advice) {
  const std::string name = results::marked(advice.trial, advice.emulated);
  const bool any_tried =
      std::ranges::any_of(advice.tries, [](const AdviceTry& attempt) { return attempt.ratio.has_value(); });
  if (!any_tried && advice.out_of_time && !advice.tries.empty()) {
    const double most = std::ranges::max(advice.tries, {}, &AdviceTry::predicted_ratio).predicted_ratio;
    return fmt::format(
        "{}: {} images/s; the budget was too short for a try (about {:.0f} s); the best edit is predicted to reach {} "
        "the images/s.\n",
        name, rate_text(advice.images_per_s_before), advice.try_s, report::times(most));
  }
  if (advice.withdrawn) {
    return fmt::format(
        "{}: together, the kept edits are not measurably faster ({}: {} images/s against {}), so the spec is "
        "unchanged.\n",
        name, results::to_string(advice.grade), rate_text(advice.images_per_s_after),
        rate_text(advice.images_per_s_before));
  }
  if (!advice.ratio && left_open(advice)) {
    return fmt::format("{}: the machine was too busy to show whether an edit is faster; {} images/s.\n", name,
                       rate_text(advice.images_per_s_before));
  }
  if (!advice.ratio)
    return fmt::format("{}: none of the edits tried is faster; {} images/s.\n", name,
                       rate_text(advice.images_per_s_before));
  return fmt::format("{}: {} the images/s with the edits kept{}: {} against {}.\n", name,
                     report::times(advice.ratio->value),
                     advice.ratio->ci95 ? fmt::format(" ({})", report::interval_text(advice.ratio)) : "",
                     rate_text(advice.images_per_s_after), rate_text(advice.images_per_s_before));
}

}  // namespace

AdviceResult advise(const spec::Trial& trial, comm::World& world, const AdviceOptions& options) {
  if (!spec::uses_pipeline(trial.spec))
    throw SpecError("advise: data.format 'ready' has no input to advise on; give images or tfrecord");
  if (trial.spec.emulation.cores_per_accelerator > 0) {
    throw SpecError("advise: it predicts from the cores of this machine; set emulation.cores_per_accelerator to 0");
  }
  if (trial.spec.training.epochs > 0) throw SpecError("advise: it measures steps; set training.epochs to 0");
  return Adviser(trial, world, options).run();
}

std::string advice_json(const Advice& advice) {
  return indented_json({{"trial", advice.trial},
                        {"ranks", advice.ranks},
                        {"emulated", advice.emulated},
                        {"verdict", advice.verdict},
                        {"images_per_s_before", advice.images_per_s_before},
                        {"images_per_s_after", advice.images_per_s_after},
                        {"ratio", ratio_to_json(advice.ratio)},
                        {"grade", advice.ratio ? Json(results::to_string(advice.grade)) : Json(nullptr)},
                        {"withdrawn", advice.withdrawn},
                        {"out_of_time", advice.out_of_time},
                        {"tries", list_of(advice.tries, try_to_json)}});
}

bool is_kept(const AdviceTry& attempt) {
  if (!attempt.ratio) return false;
  const auto& [value, ci95] = *attempt.ratio;
  if (attempt.saves_memory && attempt.grade != results::Grade::machine_too_busy)
    return ci95 && ci95->low > 1 - kToleratedLoss;
  return attempt.grade == results::Grade::told_apart && value > 1;
}

std::string advice_table(const Advice& advice, const report::LineWidth& width, bool brief) {
  report::TextTable table{.header = {"edit", "predicted", "measured (95 % interval)", "kept", "because"},
                          .rows = {},
                          .left_columns = 1,
                          .last_left = true,
                          .expendable = {1}};
  std::vector<std::string> untried;
  for (const AdviceTry& attempt : advice.tries) {
    if (brief && !attempt.ratio) {
      untried.push_back(attempt.edit);
      continue;
    }
    table.rows.push_back({attempt.edit, report::times(attempt.predicted_ratio), measured(attempt), kept(attempt),
                          brief && !attempt.kept ? "" : attempt.why});
  }
  std::string text = outcome(advice);
  if (!brief && !advice.verdict.empty()) text += advice.verdict + "\n";
  if (!table.rows.empty()) text += "\n" + report::fitted_text(table, width, "--format json");
  if (!untried.empty()) text += fmt::format("not tried: {}\n", fmt::join(untried, ", "));
  if (advice.out_of_time) text += "Time ran out before all promising edits were tried: give a longer --budget.\n";
  return text;
}

}  // namespace chexbench::verbs
