#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "core/errors.hpp"
#include "options.hpp"
#include "output.hpp"
#include "results/labels.hpp"
#include "results/read.hpp"
#include "verbs/compare/compare.hpp"

namespace chexbench::app {
namespace {

using verbs::ComparedArm;
using verbs::Verdict;

struct CompareArguments {
  std::string base;
  std::string other;
  std::string format = "table";
  bool fail_undecided = false;
  verbs::CompareOptions options;
};

// Returns "naive images (0.912 x), optimized images (0.930 x, machine too busy)": the arms with this verdict.
std::string arms_called(Verdict verdict, const verbs::RunComparison& comparison) {
  std::vector<std::string> arms;
  for (const ComparedArm& arm : comparison.arms) {
    if (arm.verdict != verdict) continue;
    const std::string grade =
        arm.grade == results::Grade::told_apart ? "" : fmt::format(", {}", results::to_string(arm.grade));
    arms.push_back(fmt::format("{} ({:.3f} x{})", arm.trial, arm.ratio->value, grade));
  }
  return fmt::format("{}", fmt::join(arms, ", "));
}

// @throws UndeclaredError if the runs differ in more than --vary declares: no ratio then shows the effect of that alone
void check_differences(const verbs::RunComparison& comparison) {
  constexpr std::size_t kMostNames = 8;
  std::vector<std::string> names;
  for (const verbs::Difference& one : verbs::undeclared_differences(comparison))
    if (std::ranges::find(names, one.key) == names.end()) names.push_back(one.key);
  if (names.empty()) return;
  const std::string more = names.size() > kMostNames ? fmt::format(" and {} more", names.size() - kMostNames) : "";
  names.resize(std::min(names.size(), kMostNames));
  throw UndeclaredError(fmt::format(
      "compare: the runs differ in {}{}, which --vary does not name: measure again without that difference, "
      "or name it if it was intended",
      fmt::join(names, ", "), more));
}

// Turns the verdicts into an exit code. A gate that compares nothing must not pass.
// @throws ComparisonError if an arm is worse, or undecided and `fail_undecided` is set
// @throws DataError if no trial could be compared
void check(const verbs::RunComparison& comparison, bool fail_undecided) {
  const std::string worse = arms_called(Verdict::worse, comparison);
  if (!worse.empty()) throw ComparisonError("compare: worse than the base: " + worse);
  const std::string undecided = arms_called(Verdict::undecided, comparison);
  if (fail_undecided && !undecided.empty()) throw ComparisonError("compare: undecided: " + undecided);
  const bool any = std::ranges::any_of(comparison.arms,
                                       [](const ComparedArm& arm) { return arm.verdict != Verdict::not_comparable; });
  if (!any) {
    throw DataError(
        "compare: no trial of the two can be compared; the table gives the reasons (--across-machines allows other "
        "machines and another place of the data)");
  }
}

void run(const CompareArguments& arguments) {
  const verbs::Side base{.name = arguments.base, .runs = results::read_runs(arguments.base)};
  const verbs::Side other{.name = arguments.other, .runs = results::read_runs(arguments.other)};
  const verbs::RunComparison comparison = verbs::compare_runs(base, other, arguments.options);
  print(verbs::format_comparison(comparison, arguments.format, stdout_width()), arguments.format);
  check_differences(comparison);
  check(comparison, arguments.fail_undecided);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* const verb =
      app.add_subcommand("compare", "Shows which trials became slower (then exit code 5) or faster.");
  verb->add_option("BASE", arguments->base,
                   "Read the earlier run from here: its folder, its report.json, or a folder of runs.")
      ->required()
      ->type_name("RUN");
  verb->add_option("NEW", arguments->other, "Read the later run from here.")->required()->type_name("RUN");
  verb->add_option("--threshold", arguments->options.threshold,
                   "Count a change only if it is more than this share of BASE's images/s.")
      ->capture_default_str();
  verb->add_flag("--across-machines", arguments->options.across_machines,
                 "Compare even if the CPU, cores, GPUs, libraries or the data's location differ.");
  verb->add_option("--vary", arguments->options.vary,
                   "Compare even if these differ, e.g. --vary governor,training.batch_size (keys of the spec, or names "
                   "that it prints), and exit with 7 if others do.")
      ->type_name("KEY,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_flag("--fail-undecided", arguments->fail_undecided,
                 "Exit with 5 also if it is undecided whether a trial became worse.");
  add_format_option(*verb, arguments->format, {"table", "json", "markdown"});
  verb->callback([arguments] { run(*arguments); });
}

}  // namespace chexbench::app
