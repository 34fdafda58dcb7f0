#include "report/markdown.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/answer.hpp"
#include "analysis/commands.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Returns the lines of the table whose header is `header`.
std::vector<std::string> rows_under(const std::string& text, const std::string& header) {
  std::vector<std::string> rows;
  std::istringstream stream(text);
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (inside && !line.starts_with("|")) break;
    if (inside) rows.push_back(line);
    inside |= line.starts_with(header);
  }
  return rows;
}

TEST(Markdown, HoldsARowForEachTrialUnderOneAlignment) {
  const std::string text = markdown(
      results::make_report({results::make_trial({.pipeline = "naive", .engine = "onednn"}, {100, 101, 102, 103, 104}),
                            results::make_trial({.engine = "onednn"}, {200, 201, 202, 203, 204})}));
  const auto rows = rows_under(text, "| pipeline | images/s |");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], StartsWith("| --- | ---: | ---: |"));
  EXPECT_THAT(rows[1], AllOf(StartsWith("| naive | 102 |"), HasSubstr("| 40.0 % |")));
  EXPECT_THAT(rows[2], StartsWith("| optimized | 202 |"));
  EXPECT_THAT(rows_under(text, "| pipeline | mean step |")[1], HasSubstr("| naive | 100.0 ms | 40.0 % | 5.0 % |"));
}

TEST(Markdown, ShowsTheAnswerThenTheTrialsThenFindings) {
  results::Report report = results::make_report({results::make_trial({.pipeline = "naive"}, {100, 101, 102, 103, 104}),
                                                 results::make_trial({}, {200, 201, 202, 203, 204})});
  report.findings.push_back({.kind = "starved", .text = "the accelerator waits for 40 % of its time."});
  const std::string text = markdown(report);
  const std::string first = analysis::derive_answer(report).lines.front();
  EXPECT_THAT(text, StartsWith("## chexbench: naive-vs-optimized\n\n- " + markdown_line(first) + "\n"));
  EXPECT_LT(text.find("### Trials"), text.find("| naive | 102 |"));
  EXPECT_LT(text.find("| naive | 102 |"), text.find("### Findings\n\n- the accelerator waits for 40 %"));
  EXPECT_LT(text.find("### Findings"), text.find("### Where the time went"));
}

TEST(Markdown, GivesTheCommandOfTheAnswerAsCodeThatReadsTheFolder) {
  const results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive"}, {100, 101, 102, 103, 104}),
                            results::make_trial({}, {200, 201, 202, 203, 204})});
  const std::string command = analysis::derive_answer(report).command;
  ASSERT_THAT(command, HasSubstr(" DIR"));
  EXPECT_THAT(markdown(report, "out/a"),
              HasSubstr("\n\n~~~sh\n" + analysis::with_folder("out/a", command) + "\n~~~\n\n### Trials"));
  EXPECT_THAT(markdown(report), HasSubstr("~~~sh\n" + command + "\n~~~\n"));
}

TEST(Markdown, MarksEmulatedTrialsInBothTables) {
  const std::string text = markdown(results::make_report({results::make_trial({.engine = "emulated:v100"}, {100})}));
  EXPECT_THAT(rows_under(text, "| trial | images/s |")[1], HasSubstr("| (emulated) |"));
  EXPECT_THAT(rows_under(text, "| trial | mean step |")[1], HasSubstr("| (emulated) |"));
  EXPECT_THAT(text, HasSubstr("- source of emulated:v100 (emulated): a cited publication"));
}

TEST(Markdown, MarksAComputedSpeedInBothTablesAndInTheNotes) {
  results::TrialResult computed = results::make_trial({.engine = "emulated:v100"}, {100});
  computed.step_time_computed = true;
  const std::string text = markdown(results::make_report({computed}));
  EXPECT_THAT(rows_under(text, "| trial | images/s |")[1], HasSubstr("| (emulated), (computed speed) |"));
  EXPECT_THAT(rows_under(text, "| trial | mean step |")[1], HasSubstr("| (emulated, computed speed) |"));
  EXPECT_THAT(text, HasSubstr("- (computed speed): no source gives"));
}

TEST(Markdown, HoldsARowForEachStepOfAnAblation) {
  const std::vector<double> fives[] = {{100, 101, 102, 103, 104}, {50, 50, 50, 50, 50}, {200, 202, 204, 206, 208}};
  const std::string text =
      markdown(results::make_report({results::make_trial({.pipeline = "naive", .engine = "emulated:v100"}, fives[0]),
                                     results::make_trial({.pipeline = "keras", .engine = "emulated:v100"}, fives[1]),
                                     results::make_trial({.engine = "emulated:v100"}, fives[2])}));
  EXPECT_THAT(text, HasSubstr("\n### Step by step over images, 1 rank\n"));
  const auto rows = rows_under(text, "| step | images/s |");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1], "| naive | 102 |  |  |  |  | (emulated) |");
  EXPECT_EQ(rows[2], "| keras | 50.0 | 0.49 x | 0.48 to 0.50 | 0.49 x | 0.48 to 0.50 | (emulated) |");
  EXPECT_EQ(rows[3], "| optimized | 204 | 4.08 x | 4.00 to 4.16 | 2.00 x | 2.00 to 2.00 | (emulated) |");
}

TEST(Markdown, SaysThatNothingWasMeasured) {
  EXPECT_THAT(markdown(results::make_report({})), AllOf(HasSubstr("Nothing was measured."), Not(HasSubstr("|"))));
  EXPECT_THAT(markdown(results::make_report({results::make_trial({}, {})})), HasSubstr("Nothing was measured."));
}

TEST(MarkdownEscaped, TakesTheMeaningFromWhatWouldHaveOne) {
  EXPECT_EQ(markdown_escaped("a|b <img> *x* [l](u) `c` \\"), "a\\|b \\<img\\> \\*x\\* \\[l\\](u) \\`c\\` \\\\");
  EXPECT_EQ(markdown_escaped("two\nlines"), "two lines");
  EXPECT_EQ(markdown_escaped("&lt; &#60; a & b # c#5 $x$"), "\\&lt; \\&#60; a & b \\# c#5 \\$x\\$");
  EXPECT_EQ(markdown_escaped("map_and_batch _x_"), "map_and_batch \\_x\\_") << "underscores within words stay";
  EXPECT_EQ(markdown_escaped("a\x1b[31m\r\n\xe2\x80\xae"), "a\\\\x1b\\[31m  \\\\xe2\\\\x80\\\\xae");
}

TEST(MarkdownLine, BeginsNoListAndNoHeading) {
  for (const auto& [text, line] : {std::pair{"- a", "\\- a"},
                                   {"+ a", "\\+ a"},
                                   {"---", "\\---"},
                                   {"===", "\\==="},
                                   {"# a", "\\# a"},
                                   {"12. a", "12\\. a"},
                                   {"1) a", "1\\) a"},
                                   {"> a", "\\> a"},
                                   {"12 a", "12 a"},
                                   {"", ""},
                                   {"7", "7"}}) {
    EXPECT_EQ(markdown_line(text), line);
  }
}

TEST(Markdown, ANameCannotEndItsCellOrItsLine) {
  results::TrialResult odd = results::make_trial({}, {100});
  odd.spec.pipeline.name = "a|b\n| c | <img src=x> `";
  odd.name = "x|\n\n# y";
  const std::string text = markdown(results::make_report({odd, results::make_trial({}, {200})}));
  EXPECT_THAT(text, HasSubstr("| a\\|b \\| c \\| \\<img src=x\\> \\` | 100 |"));
  EXPECT_THAT(text, Not(HasSubstr("\n# y")));
}

}  // namespace
}  // namespace chexbench::report
