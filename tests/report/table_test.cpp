#include "report/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/text_table.hpp"
#include "results/labels.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string table_of(std::vector<results::TrialResult> trials) {
  return result_table(results::make_report(std::move(trials)));
}

// Returns the lines that contain `text`.
std::vector<std::string> lines_with(const std::string& table, const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(table);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(text) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

TEST(TextTable, AlignsColumnsAndTrimsLineEnds) {
  EXPECT_EQ(render({.header = {"name", "rate", "flags"},
                    .rows = {{"a", "1.5", ""}, {"longer", "100.25", "odd"}},
                    .left_columns = 1,
                    .last_left = true}),
            "name      rate  flags\n"
            "a          1.5\n"
            "longer  100.25  odd\n");
}

TEST(TextTable, LeavesOutColumnsThatAreEmptyEverywhere) {
  EXPECT_EQ(render({.header = {"a", "empty", "b"}, .rows = {{"1", "", "2"}}}), "a  b\n1  2\n");
}

TEST(Labels, AreTheAttributesThatDiffer) {
  const results::Labels labels =
      results::label_trials({results::make_trial({.pipeline = "naive"}, {1}), results::make_trial({.ranks = 2}, {1})});
  EXPECT_THAT(labels.names, ElementsAre("pipeline", "ranks"));
  EXPECT_THAT(labels.rows, ElementsAre(ElementsAre("naive", "1"), ElementsAre("optimized", "2")));
  EXPECT_EQ(labels.common, "format images, model resnet50, engine none, precision f32, batch 16");
}

TEST(Labels, TellStoresApartByTheirRootAndByTheirShape) {
  results::TrialResult near = results::make_trial({}, {1}), far = near, slow = near;
  near.spec.data.root = slow.spec.data.root = "data/nih";
  far.spec.data.root = "nfs://filer/nih";
  slow.spec.data.store.shape.latency_ms = 2;
  const results::Labels labels = results::label_trials({near, far, slow});
  EXPECT_THAT(labels.names, ElementsAre("root", "store"));
  EXPECT_THAT(labels.rows, ElementsAre(ElementsAre("data/nih", "as it is"), ElementsAre("nfs://filer/nih", "as it is"),
                                       ElementsAre("data/nih", "2 ms")));
}

TEST(Labels, LeaveTheInputOfReadyMadeBatchesEmpty) {
  const auto naive = results::make_trial({.pipeline = "naive"}, {1}), optimized = results::make_trial({}, {1});
  const auto ready = results::make_trial({.format = spec::DataFormat::ready}, {1});
  const results::Labels labels = results::label_trials({naive, ready, optimized});
  EXPECT_THAT(labels.names, ElementsAre("pipeline", "format"));
  EXPECT_THAT(labels.rows, ElementsAre(ElementsAre("naive", "images"), ElementsAre("", "ready"),
                                       ElementsAre("optimized", "images")));
  EXPECT_THAT(results::label_trials({ready, optimized}).names, ElementsAre("format"));
  EXPECT_EQ(results::label_trials({ready, optimized}).common,
            "pipeline optimized, model resnet50, engine none, precision f32, ranks 1, batch 16");
}

TEST(Labels, BeginWithTheTrialWhereAttributesDoNotTellTrialsApart) {
  auto few = results::make_trial({}, {1});
  auto many = results::make_trial({}, {1});
  few.name = "parallel_calls=1";
  many.name = "parallel_calls=8";
  const results::Labels labels = results::label_trials({few, many});
  EXPECT_THAT(labels.names, ElementsAre("trial"));
  EXPECT_THAT(labels.rows, ElementsAre(ElementsAre("parallel_calls=1"), ElementsAre("parallel_calls=8")));
}

TEST(ResultTable, ShowsEachTrialsFigures) {
  auto naive = results::make_trial({.pipeline = "naive", .engine = "onednn"}, {100, 104, 102, 90, 103});
  naive.repeats[0].peak_rss_bytes = 700'000'000;
  const std::string table =
      table_of({naive, results::make_trial({.pipeline = "optimized", .engine = "onednn"}, {3.75})});
  EXPECT_THAT(table, HasSubstr("naive-vs-optimized: 2 trials on node1 (Some CPU @ 2.5 GHz, 2 sockets, 2 cores)"));
  EXPECT_THAT(lines_with(table, "naive  ").at(0),
              AllOf(HasSubstr(" 102 "), HasSubstr("90.0 to 104"), HasSubstr("700 MB")));
  EXPECT_THAT(lines_with(table, "optimized  ").at(0), AllOf(HasSubstr("3.75"), Not(HasSubstr(".."))));
}

TEST(ResultTable, TellsOnceWhatAllRowsShare) {
  const std::string table = table_of({results::make_trial({.pipeline = "naive", .engine = "onednn"}, {100}),
                                      results::make_trial({.engine = "onednn"}, {200})});
  EXPECT_THAT(table, HasSubstr("\nin all rows: wait 40.0 %, busy 43.0 %, decoded/trained 1.00, peak RSS 500 MB\n"));
  EXPECT_THAT(lines_with(table, "naive  ").at(0), AllOf(HasSubstr(" 100"), Not(HasSubstr("%"))));
}

TEST(ResultTable, LeavesTheWaitsOfEngineNoneOut) {
  const std::string table =
      table_of({results::make_trial({.pipeline = "naive"}, {100}), results::make_trial({}, {200})});
  EXPECT_THAT(table, AllOf(Not(HasSubstr("wait ")), Not(HasSubstr("  busy")), Not(HasSubstr("  upload"))));
  EXPECT_THAT(table, AllOf(HasSubstr("What a step took, and waited for most:\n"), HasSubstr("map: decode")));
}

TEST(ResultTable, ShowsWhereTheTimeWentSummingToOne) {
  results::TrialResult other = results::make_trial({.engine = "onednn"}, {100});
  for (results::StepRecord& step : other.repeats[0].steps) step.timings = {.wall_s = 0.1, .compute_s = 0.1};
  const std::string table = table_of({results::make_trial({.pipeline = "naive", .engine = "onednn"}, {100}), other});
  const auto rows = lines_with(table.substr(table.find("Where the time went")), "naive  ");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_THAT(rows[0], AllOf(HasSubstr("40.0 %"), HasSubstr("5.0 %"), HasSubstr("30.0 %"), HasSubstr("10.0 %"),
                             HasSubstr("8.0 %"), HasSubstr("7.0 %"), HasSubstr("map: decode")));
}

TEST(ResultTable, ShowsNoSignBeforeAZero) {
  results::TrialResult trial = results::make_trial({.engine = "onednn"}, {100});
  for (results::StepRecord& step : trial.repeats[0].steps) step.timings.other_s = -1e-18;
  EXPECT_THAT(table_of({trial}), AllOf(HasSubstr("  0.0 %"), Not(HasSubstr("-0.0"))));
}

TEST(ResultTable, MarksEmulatedTrialsInEveryRowAndNamesTheSourceOnce) {
  const std::string table = table_of({results::make_trial({.ranks = 1, .engine = "emulated:v100"}, {100}),
                                      results::make_trial({.ranks = 2, .engine = "none"}, {100})});
  for (const std::string& row : lines_with(table, "emulated:v100  ")) EXPECT_THAT(row, HasSubstr("(emulated)"));
  EXPECT_EQ(lines_with(table, "emulated:v100  ").size(), 2u);
  for (const std::string& row : lines_with(table, "none  ")) EXPECT_THAT(row, Not(HasSubstr("(emulated)")));
  EXPECT_EQ(lines_with(table, "source of emulated:v100 (emulated): a cited publication").size(), 1u);
}

TEST(ResultTable, MarksAComputedSpeedInEveryRowAndNamesEverySource) {
  results::TrialResult computed = results::make_trial({.ranks = 1, .engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  computed.engine_source = "computed, not measured: from the layers";
  const std::string table = table_of({computed, results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100})});
  EXPECT_EQ(lines_with(table, "(emulated), (computed speed)").size(), 1u);
  EXPECT_EQ(lines_with(table, "(emulated, computed speed)").size(), 1u);
  EXPECT_EQ(lines_with(table, "(computed speed): no source gives").size(), 1u);
  EXPECT_EQ(lines_with(table, "source of emulated:v100 (emulated): a cited publication").size(), 1u);
  EXPECT_EQ(lines_with(table, "source of emulated:v100 (emulated): computed, not measured: from the layers").size(),
            1u);
}

TEST(ResultTable, SaysNothingOfEmulationWhereNothingIsEmulated) {
  EXPECT_THAT(table_of({results::make_trial({}, {100})}), AllOf(Not(HasSubstr("emulated")), Not(HasSubstr("  AU"))));
}

struct FlagCase {
  const char* word;
  void (*raise)(results::TrialResult&);
};
void PrintTo(const FlagCase& flag, std::ostream* out) { *out << flag.word; }

class ResultTableFlags : public testing::TestWithParam<FlagCase> {};

TEST_P(ResultTableFlags, StandInTheRowAndAreExplainedBelow) {
  results::TrialResult trial = results::make_trial({.pipeline = "naive"}, {100});
  const results::TrialResult other = results::make_trial({}, {100});
  const std::string without = table_of({trial, other});
  GetParam().raise(trial);
  const std::string with = table_of({trial, other});
  EXPECT_THAT(without, Not(HasSubstr(GetParam().word)));
  EXPECT_THAT(lines_with(with, "naive  ").at(0), testing::EndsWith(GetParam().word));
  EXPECT_THAT(with, HasSubstr("\n" + std::string(GetParam().word) + ": "));
}

INSTANTIATE_TEST_SUITE_P(
    All, ResultTableFlags,
    testing::Values(FlagCase{"unstable", [](results::TrialResult& trial) { trial.unstable = true; }},
                    FlagCase{"partial", [](results::TrialResult& trial) { trial.partial = true; }},
                    FlagCase{"oversubscribed", [](results::TrialResult& trial) { trial.oversubscribed = true; }},
                    FlagCase{"buffer_fed", [](results::TrialResult& trial) { trial.repeats[0].buffer_fed = true; }},
                    FlagCase{"bad_records", [](results::TrialResult& trial) { trial.repeats[0].bad_records = 1; }},
                    FlagCase{"cache?", [](results::TrialResult& trial) {
                               trial.repeats[0].page_cache = "cold (not verified)";
                             }}));

TEST(ResultTable, RepeatsNotesOfEnginesOnce) {
  auto one = results::make_trial({.ranks = 1, .engine = "emulated:v100"}, {100});
  auto two = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {100});
  one.notes = two.notes = {"batch 64 scaled linearly to 16"};
  EXPECT_EQ(lines_with(table_of({one, two}), "batch 64 scaled linearly to 16").size(), 1u);
}

TEST(ResultTable, SaysWhatWasFoundForAutoAndWhy) {
  auto trial = results::make_trial({.pipeline = "naive"}, {100});
  trial.repeats[0].tunings = {{.op = "map", .parameter = "parallel_calls", .value = 4, .reason = "6 added 0.8 %"}};
  EXPECT_THAT(table_of({trial}), HasSubstr("\n" + trial.name + ": map.parallel_calls \"auto\" is 4: 6 added 0.8 %\n"));
}

TEST(ResultTable, TellsOfAnInterruptionAndOfTrialsNotReached) {
  results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive"}, {100}), results::make_trial({}, {})});
  report.interrupted = true;
  report.trials[1].partial = true;
  const std::string table = result_table(report);
  EXPECT_THAT(table, HasSubstr("ended early"));
  EXPECT_THAT(lines_with(table, "optimized  ").at(0), AllOf(HasSubstr("partial"), Not(HasSubstr(" MB"))));
}

TEST(ResultTable, OfNoTrialSaysSo) { EXPECT_THAT(table_of({}), HasSubstr("no trial was measured")); }

TEST(ResultTable, HoldsEachStepAgainstTheOneBefore) {
  const std::vector<double> fives(5, 100);
  const std::string table = table_of({results::make_trial({.pipeline = "naive"}, fives),
                                      results::make_trial({.pipeline = "keras"}, std::vector<double>(5, 50)),
                                      results::make_trial({}, std::vector<double>(5, 200))});
  const std::string steps =
      table.substr(table.find("Step by step over images, 1 rank; each step against the one before"));
  EXPECT_THAT(lines_with(steps, "keras  ").at(0), AllOf(HasSubstr("   50.0  "), HasSubstr("0.50 x   0.50 to 0.50")));
  EXPECT_THAT(lines_with(steps, "optimized  ").at(0), AllOf(HasSubstr("4.00 x"), HasSubstr("2.00 x   2.00 to 2.00")));
}

TEST(ResultTable, HasNoStepsOfTwoTrials) {
  EXPECT_THAT(table_of({results::make_trial({.pipeline = "naive"}, {1}), results::make_trial({}, {1})}),
              Not(HasSubstr("Step by step")));
}

TEST(ResultTable, ListsFindings) {
  results::Report report = results::make_report({results::make_trial({}, {100})});
  report.findings = {{.kind = "fed", .text = "All is well."},
                     {.kind = "busy_machine", .text = "Who knows?", .grade = results::Grade::machine_too_busy}};
  EXPECT_THAT(result_table(report), HasSubstr("\nFindings:\n- All is well.\n- Who knows? [machine too busy]\n"));
}

results::Report report_with_findings() {
  results::Report report = results::make_report(
      {results::make_trial({.pipeline = "naive", .engine = "emulated:v100"}, std::vector<double>(5, 100)),
       results::make_trial({.engine = "emulated:v100"}, std::vector<double>(5, 200))});
  for (int i = 0; i < 7; ++i) {
    report.findings.push_back({.kind = "starved",
                               .text = "A long sentence.",
                               .emulated = true,
                               .trial = report.trials[0].name,
                               .headline = "starves " + std::to_string(i),
                               .reason = "Because.",
                               .advice = "Do something about it, which takes more words than a narrow terminal holds.",
                               .command = "chexbench --config SPEC",
                               .worth_share = 0.1 * i});
  }
  return report;
}

TEST(ResultTable, BeginsWithTheAnswer) {
  const std::string table = result_table(report_with_findings());
  EXPECT_THAT(table,
              StartsWith("optimized (emulated) trains 200 images/s, 2.00 x naive (95 % interval 2.00 to 2.00).\n"));
  EXPECT_LT(table.find("\nDo: "), table.find("naive-vs-optimized: 2 trials"));
}

TEST(ResultTable, PrintsTheFindingsThatCostMostAndHowToSeeAll) {
  const std::string table = result_table(report_with_findings(), {.folder = "results/a b"});
  EXPECT_THAT(table,
              HasSubstr("\nFindings, 5 of 7, those that cost most first:\n"
                        "- naive images ranks=1 (emulated) starves 6\n"
                        "   Because. Do something about it, which takes more words than a narrow terminal holds.\n"
                        "   chexbench --config SPEC\n"
                        "- naive images ranks=1 (emulated) starves 5\n"));
  EXPECT_THAT(table, AllOf(HasSubstr("starves 2\n"), Not(HasSubstr("starves 1\n"))));
  EXPECT_THAT(table, testing::EndsWith("\nAll of them: chexbench report 'results/a b' --findings all\n"));
  const std::string all = result_table(report_with_findings(), {.findings = std::nullopt});
  EXPECT_THAT(all, AllOf(HasSubstr("\nFindings:\n"), HasSubstr("starves 0\n"), Not(HasSubstr("All of them"))));
  const std::string none = result_table(report_with_findings(), {.findings = 0});
  EXPECT_THAT(none, AllOf(HasSubstr("Findings, 0 of 7"), Not(HasSubstr("starves 6")), HasSubstr("All of them: ")));
}

TEST(ResultTable, IsBriefIfAskedTo) {
  const std::string brief = result_table(report_with_findings(), {.width = 100, .brief = true, .folder = "out"});
  EXPECT_THAT(brief, AllOf(StartsWith("optimized (emulated) trains"), HasSubstr("\ntrial "), HasSubstr("(emulated)"),
                           HasSubstr("\ndetails  chexbench report out --explain\n"), Not(HasSubstr("Where the time"))));
  std::istringstream lines(brief);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(ResultTable, LeavesOutFindingsThatDoNotFitIntoTwelveLines) {
  results::Report report = report_with_findings();
  const auto lines = [&](const TableOptions& options) {
    return static_cast<std::size_t>(std::ranges::count(result_table(report, options), '\n'));
  };
  EXPECT_LE(lines({.width = 100, .brief = true}), kBriefLines);
  const std::string narrow = result_table(report, {.width = 40, .brief = true});
  EXPECT_THAT(narrow, AllOf(HasSubstr("starves 6"), Not(HasSubstr("starves 5"))));
  const std::string asked = result_table(report, {.width = 40, .brief = true, .findings = 4, .whole_findings = true});
  EXPECT_THAT(asked, AllOf(HasSubstr("starves 3"), Not(HasSubstr("starves 2"))));
}

TEST(ResultTable, IsAsWideAsTheTerminal) {
  results::Report report = report_with_findings();
  report.trials[0].unstable = report.trials[0].oversubscribed = true;
  for (const std::size_t width : {60, 80, 100, 120}) {
    std::istringstream lines(result_table(report, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      const bool is_command = line.starts_with("   chexbench ");  // which must be copied whole
      EXPECT_LE(is_command ? 0 : line.size(), width) << line;
    }
  }
  EXPECT_THAT(result_table(report, {.width = 60}), HasSubstr("No room for"));
  EXPECT_THAT(result_table(report), Not(HasSubstr("Too narrow")));
}

TEST(ResultTable, HasColoursOnlyIfAskedFor) {
  EXPECT_THAT(result_table(report_with_findings()), Not(HasSubstr("\x1b")));
  EXPECT_THAT(result_table(report_with_findings(), {.colour = true}), StartsWith("\x1b[1moptimized (emulated) trains"));
}

TEST(ResultTable, ObeysNoName) {
  results::Report report = results::make_report({results::make_trial({}, {100}), results::make_trial({}, {200})});
  report.trials[0].spec.pipeline.name = "a\n\x1b[2J";
  report.environment.host = "h\x1b]0;t\x07";
  report.findings = {{.kind = "fed", .text = "a\nb \xe2\x80\xae"}};
  const std::string table = result_table(report);
  EXPECT_THAT(table, AllOf(HasSubstr("\na\\x0a\\x1b[2J  "), HasSubstr(" on h\\x1b]0;t\\x07 ("),
                           HasSubstr("\n- a\\x0ab \\xe2\\x80\\xae\n")));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  // The columns are as wide as the shown cells.
  const std::size_t odd = lines_with(table, "\\x1b[2J  ").at(0).find("100");
  EXPECT_EQ(lines_with(table, "optimized  ").at(0).find("200"), odd);
}

TEST(ResultTable, IsSevenBit) {
  const std::string table = table_of({results::make_trial({.engine = "emulated:v100"}, {100, 101, 102, 103, 104})});
  EXPECT_TRUE(std::all_of(table.begin(), table.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
}

}  // namespace
}  // namespace chexbench::report
