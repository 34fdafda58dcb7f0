#include "core/text.hpp"

#include <gtest/gtest.h>

namespace chexbench {
namespace {

TEST(LowerCase, ChangesLettersOnly) { EXPECT_EQ(lower_case("A_z-0.PNG \xc3\x84"), "a_z-0.png \xc3\x84"); }

TEST(UpperCase, ChangesLettersOnly) { EXPECT_EQ(upper_case("a_Z-0.png \xc3\xa4"), "A_Z-0.PNG \xc3\xa4"); }

TEST(ShellWord, QuotesWhatAShellWouldSplitOrObey) {
  EXPECT_EQ(shell_word("data.root=/a/b-c_1.png"), "data.root=/a/b-c_1.png");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("\xc3\xa4"), "'\xc3\xa4'");
}

TEST(ShellWord, NamesBytesThatAreNoTextByTheirNumbers) {
  EXPECT_EQ(shell_word("r\xe9p/it's \\n"), R"($'r\xe9p/it\'s \\n')");
  EXPECT_EQ(shell_word("two\nlines"), R"($'two\x0alines')");
}

TEST(DurationText, IsInTheUnitThatPeopleUse) {
  EXPECT_EQ(duration_text(0.4), "0 s");
  EXPECT_EQ(duration_text(-1), "0 s");
  EXPECT_EQ(duration_text(99.4), "99 s");
  EXPECT_EQ(duration_text(100), "2 min");
  EXPECT_EQ(duration_text(59.4 * 60), "59 min");
  EXPECT_EQ(duration_text(59.6 * 60), "1 h 0 min");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
}

TEST(TimeLeftText, NeverSaysThatNothingIsLeft) {
  EXPECT_EQ(time_left_text(185), "3 min left");
  EXPECT_EQ(time_left_text(0.6, "at most"), "at most 1 s left");
  EXPECT_EQ(time_left_text(0.4, "at most"), "nearly done");
  EXPECT_EQ(time_left_text(-3), "nearly done");
}

TEST(BytesText, IsInTheUnitThatPeopleUse) {
  EXPECT_EQ(bytes_text(27'900), "28 kB");
  EXPECT_EQ(bytes_text(999'600), "1 MB");
  EXPECT_EQ(bytes_text(443.2e6), "443 MB");
  EXPECT_EQ(bytes_text(1.52e9), "1.5 GB");
}

TEST(RateText, HasThreeDigitsOrCommas) {
  EXPECT_EQ(rate_text(3.814), "3.81");
  EXPECT_EQ(rate_text(9.996), "10.0");
  EXPECT_EQ(rate_text(81.23), "81.2");
  EXPECT_EQ(rate_text(99.96), "100");
  EXPECT_EQ(rate_text(999.6), "1,000");
  EXPECT_EQ(rate_text(1'234'567), "1,234,567");
}

TEST(CountText, HasOneThingOrSeveral) {
  EXPECT_EQ(count_text(0, "file"), "0 files");
  EXPECT_EQ(count_text(1, "file"), "1 file");
  EXPECT_EQ(count_text(3, "file"), "3 files");
  EXPECT_EQ(count_text(112'120, "file"), "112,120 files");
}

TEST(SentenceOf, HasACapitalLetterAndOneFullStop) {
  EXPECT_EQ(sentence_of("its cores are full"), "Its cores are full.");
  EXPECT_EQ(sentence_of("Done."), "Done.");
  EXPECT_EQ(sentence_of(""), "");
}

}  // namespace
}  // namespace chexbench
