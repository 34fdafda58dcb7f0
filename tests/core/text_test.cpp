#include "core/text.hpp"

#include <gtest/gtest.h>

namespace chexbench {
namespace {

TEST(LowerCase, ChangesLettersOnly) { EXPECT_EQ(lower_case("A_z-0.PNG \xc3\x84"), "a_z-0.png \xc3\x84"); }

TEST(ShellWord, QuotesWhatAShellWouldSplitOrObey) {
  EXPECT_EQ(shell_word("data.root=/a/b-c_1.png"), "data.root=/a/b-c_1.png");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(SentenceOf, HasACapitalLetterAndOneFullStop) {
  EXPECT_EQ(sentence_of("its cores are full"), "Its cores are full.");
  EXPECT_EQ(sentence_of("Done."), "Done.");
  EXPECT_EQ(sentence_of(""), "");
}

}  // namespace
}  // namespace chexbench
