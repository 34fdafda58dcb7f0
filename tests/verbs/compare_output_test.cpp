// The output of compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/record_factory.hpp"
#include "verbs/compare/compare.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<double> kPrintedBase{100, 101, 99, 100, 102, 98};
const std::vector<double> kPrintedLess{90, 91, 89, 90, 92, 88};

Side printed_side(std::vector<results::TrialResult> trials, const std::string& name = "a side") {
  return {.name = name, .runs = {results::make_report(std::move(trials))}};
}

RunComparison printed() {
  Side other = printed_side(
      {results::make_trial({.engine = "emulated:v100"}, kPrintedLess), results::make_trial({.ranks = 2}, kPrintedBase)},
      "new");
  other.runs[0].environment.host = "node2";
  return compare_runs(printed_side({results::make_trial({.engine = "emulated:v100"}, kPrintedBase),
                                    results::make_trial({}, kPrintedBase)},
                                   "base"),
                      other, {});
}

TEST(CompareTable, HasARowForEachArmAndSaysWhatIsEmulated) {
  const std::string table = format_comparison(printed(), "table");
  EXPECT_THAT(
      table,
      AllOf(testing::StartsWith("1 trial worse: new against base; changes below 5 % are ignored\n\n"),
            HasSubstr(
                "optimized images ranks=1 (emulated)            100          90.0      0.900 (0.881 to 0.919)  worse"),
            HasSubstr("worse"), HasSubstr("Also differs: host: node1 against node2."),
            HasSubstr("Only in the base: optimized images ranks=1."),
            HasSubstr("Only in the new one: optimized images ranks=2.")));
}

TEST(CompareTable, HasOneLineForTrialsWithTheSameNote) {
  RunComparison comparison = printed();
  comparison.arms.push_back(comparison.arms.front());
  comparison.arms.back().trial = "naive images ranks=1";
  for (ComparedArm& arm : comparison.arms) arm.note = "a note";
  EXPECT_THAT(format_comparison(comparison, "table"),
              HasSubstr("\noptimized images ranks=1 (emulated), naive images ranks=1 (emulated): a note\n"));
}

TEST(CompareTable, IsNoWiderThanATerminalAndWholeInAPipe) {
  const RunComparison comparison = printed();
  const std::string whole = format_comparison(comparison, "table");
  EXPECT_EQ(format_comparison(comparison, "table", std::nullopt), whole);
  const std::string narrow = report::fitted_lines(format_comparison(comparison, "table", 72), 72);  // as it is printed
  EXPECT_THAT(narrow, AllOf(HasSubstr("optimized images ranks=1 (emulated)"), HasSubstr("worse"),
                            HasSubstr("No room for base images/s"), HasSubstr("json has all columns.")));
  EXPECT_THAT(whole, Not(HasSubstr("Too narrow")));
  std::istringstream lines(narrow);
  std::string line;
  std::getline(lines, line);  // the title, which is not a row
  while (std::getline(lines, line)) EXPECT_LE(line.size(), 72U) << line;
}

TEST(CompareTable, OfTwoDoubtfulTrialsHasAtMostTwelveLines) {
  const auto doubtful = [](const std::string& pipeline, std::vector<double> rates) {
    results::TrialResult trial = results::make_trial({.pipeline = pipeline, .engine = "emulated:v100"}, rates);
    trial.unstable = true;
    for (results::RepeatResult& repeat : trial.repeats)
      repeat.disturbance = {.core_s = 1, .others_s = 0.5, .own_cpu_s = 0.5, .own_wait_s = 0.5, .span_s = 1};
    return trial;
  };
  const Side base = printed_side({doubtful("naive", kPrintedBase), doubtful("optimized", kPrintedBase)});
  const Side other = printed_side({doubtful("naive", kPrintedLess), doubtful("optimized", kPrintedLess)});
  const RunComparison comparison = compare_runs(base, other, {});
  for (const ComparedArm& arm : comparison.arms) EXPECT_EQ(arm.grade, results::Grade::machine_too_busy);
  const std::string text = report::fitted_lines(format_comparison(comparison, "table", 100), 100);
  EXPECT_LE(std::ranges::count(text, '\n'), 12) << text;
}

TEST(CompareTable, SaysWhyArmsAreNotComparable) {
  const Side base = printed_side({results::make_trial({}, kPrintedBase)});
  Side other = base;
  other.runs[0].environment.gpu_driver = "580.65.06";
  EXPECT_THAT(
      format_comparison(compare_runs(base, other, {}), "table"),
      AllOf(HasSubstr("not comparable"),
            HasSubstr("The machines differ, so no trial is comparable: gpu_driver: nothing against 580.65.06.")));
}

TEST(CompareTable, TellsWhatWasAllowedToDiffer) {
  results::TrialResult moved = results::make_trial({}, kPrintedBase);
  moved.spec.data.root = "/nfs/nih";
  EXPECT_THAT(format_comparison(compare_runs(printed_side({results::make_trial({}, kPrintedBase)}),
                                             printed_side({moved}), {.across_machines = true}),
                                "table"),
              AllOf(HasSubstr("same"), HasSubstr("data.root: data/nih against /nfs/nih")));
}

TEST(CompareTable, NamesTheHostsAndWhatWasDeclared) {
  const auto on_hosts = [](const std::string& governor, const std::string& smt) {
    Side side = printed_side({results::make_trial({}, kPrintedBase)});
    for (const char* host : {"a", "b", "c"})
      side.runs[0].environment.hosts.push_back({.host = host, .governors = governor, .smt = smt});
    return side;
  };
  EXPECT_THAT(format_comparison(compare_runs(on_hosts("x", "on"), on_hosts("y", "off"), {.vary = {"smt"}}), "table"),
              AllOf(HasSubstr("Differs as declared: smt of a and 2 more: on against off.\n"),
                    HasSubstr("Also differs: governor of a and 2 more: x against y.\n")));
}

TEST(CompareMarkdown, IsATableWhoseCellsHoldNoBars) {
  Side base = printed_side({results::make_trial({}, {100})});
  base.runs.push_back(base.runs[0]);
  base.runs[1].trials[0].spec.data.root = "other";
  const std::string text =
      format_comparison(compare_runs(base, printed_side({results::make_trial({}, {100})}), {}), "markdown");
  EXPECT_THAT(text, AllOf(HasSubstr("| trial | base images/s |"), HasSubstr("data/nih \\| other against data/nih |")));
}

// Returns a trial named after its unique pipeline.
results::TrialResult trial_called(const std::string& name) {
  results::TrialResult trial = results::make_trial({.pipeline = "naive"}, {100});
  trial.name = name;
  return trial;
}

TEST(CompareMarkdown, NoNameMakesMarkdown) {
  const Side base = printed_side({results::make_trial({}, {100}), trial_called("<b>\n| `c`")}, "[a](u)");
  const Side other = printed_side({results::make_trial({}, {100})});
  const std::string text = format_comparison(compare_runs(base, other, {}), "markdown");
  EXPECT_THAT(text, AllOf(HasSubstr(" against \\[a\\](u); "), HasSubstr("\nOnly in the base: \\<b\\> \\| \\`c\\`.\n")));
}

TEST(CompareTable, ObeysNoName) {
  const Side base = printed_side({results::make_trial({}, {100}), trial_called("c\nd")}, "a\x1b[2J\nb");
  const Side other = printed_side({results::make_trial({}, {100})});
  EXPECT_THAT(format_comparison(compare_runs(base, other, {}), "table"),
              AllOf(HasSubstr(" against a\\x1b[2J\\x0ab; "), HasSubstr("\nOnly in the base: c\\x0ad.\n")));
}

TEST(CompareJson, HoldsEveryValue) {
  const nlohmann::json json = nlohmann::json::parse(format_comparison(printed(), "json"));
  EXPECT_EQ(json["threshold"], 0.05);
  EXPECT_EQ(json["a_value_is"], "repeat");
  const nlohmann::json& arm = json["arms"].at(0);
  EXPECT_EQ(arm["verdict"], "worse");
  EXPECT_EQ(arm["emulated"], true);
  EXPECT_DOUBLE_EQ(arm["ratio"], 0.9);
  EXPECT_EQ(arm["ratio_ci95"].size(), 2);
  EXPECT_EQ(arm["new_values"].size(), 6);
  EXPECT_EQ(json["only_in_new"], nlohmann::json({"optimized images ranks=2"}));
}

}  // namespace
}  // namespace chexbench::verbs
