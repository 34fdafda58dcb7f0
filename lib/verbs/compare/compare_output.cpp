#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/text.hpp"
#include "report/markdown.hpp"
#include "results/labels.hpp"
#include "verbs/compare/compare.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

const std::vector<std::string> kColumns{"trial",         "base images/s", "new images/s", "new / base",
                                        "95 % interval", "verdict",       "note"};

std::string value_or_nothing(const std::string& value) { return value.empty() ? "nothing" : value; }

// Returns a difference in words: "training.batch_size: 16 against 32", "smt of node1 and 3 more: on against off".
std::string in_words(const Difference& difference) {
  const std::vector<std::string>& hosts = difference.hosts;
  std::string name = difference.key + (hosts.empty() ? "" : " of " + hosts.front());
  if (hosts.size() > 1) name += fmt::format(" and {} more", hosts.size() - 1);
  return fmt::format("{}: {} against {}", name, value_or_nothing(difference.base), value_or_nothing(difference.other));
}

std::string in_words(const std::vector<Difference>& differences) {
  std::vector<std::string> words;
  for (const Difference& difference : differences) words.push_back(in_words(difference));
  return fmt::format("{}", fmt::join(words, "; "));
}

// Returns the reasons for the verdict, or other remarks on the arm.
std::string note_of(const ComparedArm& arm) {
  if (!arm.differences.empty()) return in_words(arm.differences);
  std::vector<std::string> notes;
  if (!arm.note.empty()) notes.push_back(arm.note);
  if (!arm.allowed.empty()) notes.push_back(in_words(arm.allowed));
  return fmt::format("{}", fmt::join(notes, "; "));
}

std::vector<std::string> cells_of(const ComparedArm& arm) {
  std::string ratio;
  std::string interval;
  if (arm.ratio) ratio = fmt::format("{:.3f}", arm.ratio->value);
  if (arm.ratio && arm.ratio->ci95) {
    interval = fmt::format("{:.3f} to {:.3f}", arm.ratio->ci95->low, arm.ratio->ci95->high);
  }
  return {results::marked(arm.trial, arm.emulated),
          rate_text(arm.base.median()),
          rate_text(arm.other.median()),
          ratio,
          interval,
          to_string(arm.verdict),
          note_of(arm)};
}

// Returns the sentences that are not about a single arm.
std::vector<std::string> remarks_of(const RunComparison& comparison) {
  std::vector<std::string> lines;
  if (comparison.by_runs) lines.emplace_back("A value is the median of a run's repeats: several runs are compared.");
  if (!comparison.environment.empty()) {
    lines.push_back(
        fmt::format("The machines differ{}: {}.",
                    comparison.options.across_machines ? " (--across-machines)" : ", so no trial is comparable",
                    in_words(comparison.environment)));
  }
  if (!comparison.declared.empty())
    lines.push_back(fmt::format("Differs as declared: {}.", in_words(comparison.declared)));
  if (!comparison.remarks.empty()) lines.push_back(fmt::format("Also differs: {}.", in_words(comparison.remarks)));
  if (const auto& nearest = comparison.nearest) {
    lines.push_back(fmt::format("The nearest trials are {} in the base and {} in the new one, which differ in {}.",
                                nearest->base, nearest->other, in_words(nearest->differences)));
  }
  const auto add_only_in = [&lines](const char* side, const std::vector<std::string>& trials) {
    if (!trials.empty()) lines.push_back(fmt::format("Only in the {}: {}.", side, fmt::join(trials, ", ")));
  };
  add_only_in("base", comparison.only_in_base);
  add_only_in("new one", comparison.only_in_other);
  return lines;
}

// Returns the answer, "2 trials worse, 1 same", with the names of the sides.
std::string title(const RunComparison& comparison) {
  std::vector<std::string> counts;
  for (const Verdict verdict :
       {Verdict::worse, Verdict::better, Verdict::same, Verdict::undecided, Verdict::not_comparable}) {
    const auto arms = std::ranges::count(comparison.arms, verdict, &ComparedArm::verdict);
    if (arms == 0) continue;
    const std::string number =
        counts.empty() ? count_text(static_cast<std::uint64_t>(arms), "trial") : fmt::to_string(arms);
    counts.push_back(number + " " + to_string(verdict));
  }
  return fmt::format("{}: {} against {}; changes below {:g} % are ignored",
                     counts.empty() ? "no trial on both sides" : fmt::format("{}", fmt::join(counts, ", ")),
                     comparison.other, comparison.base, 100 * comparison.options.threshold);
}

std::string table_of(const RunComparison& comparison, const report::LineWidth& width) {
  report::TextTable table{.header = {"trial", "base images/s", "new images/s", "new / base (95 % interval)", "verdict"},
                          .rows = {},
                          .left_columns = 1,
                          .last_left = true,
                          .expendable = {1, 2}};
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;  // each with the trials that it is about
  for (const ComparedArm& arm : comparison.arms) {
    const std::vector<std::string> cells = cells_of(arm);
    const std::string interval = cells[4].empty() ? "" : fmt::format(" ({})", cells[4]);
    table.rows.push_back({cells[0], cells[1], cells[2], cells[3] + interval, cells[5]});
    if (cells[6].empty()) continue;
    auto same = std::ranges::find(notes, cells[6], &decltype(notes)::value_type::first);
    if (same == notes.end()) same = notes.insert(same, {cells[6], {}});
    same->second.push_back(cells[0]);
  }
  std::string text = report::shown_line(title(comparison));
  if (!table.rows.empty()) text += "\n" + report::fitted_text(table, width, "--format json");
  std::string remarks;
  for (const auto& [note, trials] : notes)
    remarks += report::shown_line(fmt::format("{}: {}", fmt::join(trials, ", "), note));
  for (const std::string& remark : remarks_of(comparison)) remarks += report::shown_line(remark);
  return remarks.empty() ? text : text + "\n" + remarks;
}

std::string markdown_of(const RunComparison& comparison) {
  std::string text = report::markdown_line(title(comparison)) + "\n\n" + report::markdown_row(kColumns) +
                     "|---|---:|---:|---:|---:|---|---|\n";
  for (const ComparedArm& arm : comparison.arms) text += report::markdown_row(cells_of(arm));
  for (const std::string& remark : remarks_of(comparison)) text += "\n" + report::markdown_line(remark) + "\n";
  return text;
}

Json differences_to_json(const std::vector<Difference>& differences) {
  return list_of(differences, [](const Difference& one) {
    return Json{{"key", one.key}, {"base", one.base}, {"new", one.other}, {"hosts", one.hosts}};
  });
}

Json arm_to_json(const ComparedArm& arm) {
  Json object = {{"trial", arm.trial}, {"emulated", arm.emulated}, {"verdict", to_string(arm.verdict)}};
  if (arm.ratio) object["grade"] = results::to_string(arm.grade);
  object["base_images_per_s"] = arm.base.median();
  object["new_images_per_s"] = arm.other.median();
  object["base_values"] = arm.base.images_per_s;
  object["new_values"] = arm.other.images_per_s;
  object["ratio"] = arm.ratio ? Json(arm.ratio->value) : Json(nullptr);
  object["ratio_ci95"] = arm.ratio ? interval_to_json(arm.ratio->ci95) : Json(nullptr);
  object["cpu_s_per_image_ratio"] = or_null(arm.cpu_ratio);
  object["differences"] = differences_to_json(arm.differences);
  object["allowed_differences"] = differences_to_json(arm.allowed);
  object["note"] = arm.note;
  return object;
}

std::string json_of(const RunComparison& comparison) {
  Json object = {{"base", comparison.base},
                 {"new", comparison.other},
                 {"threshold", comparison.options.threshold},
                 {"across_machines", comparison.options.across_machines},
                 {"a_value_is", comparison.by_runs ? "run" : "repeat"},
                 {"environment_differences", differences_to_json(comparison.environment)},
                 {"remarks", differences_to_json(comparison.remarks)},
                 {"vary", comparison.options.vary},
                 {"declared_differences", differences_to_json(comparison.declared)},
                 {"undeclared_differences", differences_to_json(undeclared_differences(comparison))},
                 {"arms", list_of(comparison.arms, arm_to_json)},
                 {"only_in_base", comparison.only_in_base},
                 {"only_in_new", comparison.only_in_other}};
  if (comparison.nearest) {
    object["nearest"] = {{"base", comparison.nearest->base},
                         {"new", comparison.nearest->other},
                         {"differences", differences_to_json(comparison.nearest->differences)}};
  }
  return indented_json(object);
}

}  // namespace

std::string format_comparison(const RunComparison& comparison, const std::string& format,
                              const report::LineWidth& width) {
  if (format == "json") return json_of(comparison);
  return format == "markdown" ? markdown_of(comparison) : table_of(comparison, width);
}

}  // namespace chexbench::verbs
