#include "report/text_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace chexbench::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TextTable table() {
  return {.header = {"name", "rate", "wait", "memory", "flags"},
          .rows = {{"first", "1.5", "10.0 %", "500 MB", "odd"}, {"second", "100.2", "10.0 %", "501 MB", ""}},
          .left_columns = 1,
          .last_left = true,
          .expendable = {3, 2}};
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(FittedTable, IsWholeWhereThereIsRoom) {
  EXPECT_EQ(fit(table(), std::nullopt).text, render(table()));
  const FittedTable fitted = fit(table(), 80);
  EXPECT_EQ(fitted.text, render(table()));
  EXPECT_THAT(fitted.left_out, IsEmpty());
}

TEST(FittedText, NamesTheColumnsWithoutRoomAndWhatHasThem) {
  EXPECT_EQ(fitted_text(table(), std::nullopt, "--format csv"), render(table()));
  EXPECT_EQ(fitted_text(table(), 80, "--format csv"), render(table()));
  const std::string narrow = fitted_text(table(), 33, "--format csv");
  EXPECT_TRUE(narrow.starts_with(fit(table(), 33).text));
  EXPECT_THAT(narrow, testing::EndsWith("\nNo room for memory: --format csv\n   has all columns.\n"));
}

TEST(FittedTable, LeavesOutTheLeastImportantColumnsFirstAndNamesThem) {
  EXPECT_THAT(fit(table(), 33).left_out, ElementsAre("memory"));
  EXPECT_THAT(fit(table(), 25).left_out, ElementsAre("memory", "wait"));
  EXPECT_EQ(fit(table(), 25).text, "name     rate  flags\nfirst     1.5  odd\nsecond  100.2\n");
}

TEST(FittedTable, PutsTheLastColumnUnderItsRowWhereNothingElseCanGo) {
  TextTable wide = table();
  wide.rows[0].back() = "oversubscribed";
  EXPECT_EQ(fit(wide, 20).text,
            "name     rate\n"
            "first     1.5\n"
            "  oversubscribed\n"
            "second  100.2\n");
}

TEST(FittedTable, ShortensNamesAtTheirBegin) {
  TextTable wide = table();
  wide.rows[1].front() = "nfs://filer/data/nih/images";
  const FittedTable fitted = fit(wide, 24);
  EXPECT_THAT(fitted.text, HasSubstr("\n...ata/nih/images  "));
  EXPECT_LE(widest_line(fitted.text), 24u);
}

TEST(FittedTable, ShortensBetweenCharacters) {
  TextTable wide = table();
  for (const std::string begin : {"", "a", "ab"}) {
    wide.rows[1].front() = begin + "/r\xc3\xb6ntgen/\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc/bilder";
    for (std::size_t width = 20; width < 60; ++width)
      EXPECT_THAT(fit(wide, width).text, Not(HasSubstr("\\x"))) << width;  // as half a character is shown
  }
}

TEST(FittedTable, IsNoWiderThanAnyTerminalOfTwentyColumnsOrMore) {
  TextTable wide = table();
  wide.rows[1].front() = "nfs://filer/data/nih/images";
  for (std::size_t width = 20; width < 90; ++width) EXPECT_LE(widest_line(fit(wide, width).text), width) << width;
}

TEST(SharedColumns, AreTakenOffIfTheyMayAndAllRowsAreAlike) {
  TextTable shared = table();
  EXPECT_THAT(take_shared_columns(shared), ElementsAre("wait 10.0 %"));
  EXPECT_THAT(shown_columns(shared), ElementsAre(0u, 1u, 3u, 4u));
  TextTable one = table();
  one.rows.pop_back();
  EXPECT_THAT(take_shared_columns(one), IsEmpty());
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("- one two three four", 11, 2), "- one two\n  three\n  four");
  EXPECT_EQ(wrapped("   one two", 8, 3), "   one\n   two");
  EXPECT_EQ(wrapped("one two", std::nullopt, 2), "one two");
  EXPECT_EQ(wrapped("about 95 % of it", 10, 0), "about 95 %\nof it");
  EXPECT_EQ(wrapped("about 95 % of it", 9, 0), "about\n95 % of\nit");
  EXPECT_EQ(wrapped("a-word-that-is-too-long b", 8, 2), "a-word-that-is-too-long\n  b");
}

TEST(Wrapped, KeepsACommandBetweenBackticksWhole) {
  EXPECT_EQ(wrapped("To see what lies on the store now, run `chexbench doctor --data DIR`, then go on.", 60, 3),
            "To see what lies on the store now, run\n   `chexbench doctor --data DIR`, then go on.");
  EXPECT_EQ(wrapped("a lone ` breaks nothing", 10, 0), "a lone `\nbreaks\nnothing");
}

TEST(FittedLines, BreakACommandBeforeItsOptionsSoThatItCanBeCopied) {
  EXPECT_EQ(fitted_lines("next     chexbench DIR --time 5 --set 'a= --b' --set c=1\n", 36),
            "next     chexbench DIR --time 5 \\\n     --set 'a= --b' --set c=1\n");
  const std::string whole = R"(next  chexbench $'a\nb' --time 5 --set c=1)";
  EXPECT_EQ(fitted_lines(whole, 20), whole);
  const std::string commented = "next  chexbench DIR   # or try another command with --option";
  EXPECT_EQ(fitted_lines(commented, 50), commented);
}

TEST(FittedLines, BreakSentencesAndRowsThatEndInOne) {
  EXPECT_EQ(fitted_lines("name  what it is\nshort  a long sentence\n", 17),
            "name  what it is\nshort  a long\n       sentence\n");
  EXPECT_EQ(fitted_lines("one two three", 8), "one two\n   three");
  EXPECT_EQ(fitted_lines("a long line of words\n", std::nullopt), "a long line of words\n");
}

TEST(FittedLines, KeepCommandsAndRowsOfNumbersWhole) {
  for (const std::string line :
       {"next: chexbench --config x.json --set a=b\n", "   mpirun -np 2 chexbench --config x\n",
        "  \"root\": \"a b c d e f\"\n", "1.00  2.00  3.00  4.00  5.00\n"})
    EXPECT_EQ(fitted_lines(line, 12), line);
}

}  // namespace
}  // namespace chexbench::report
