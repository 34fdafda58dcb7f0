#include "core/errors.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace chexbench {
namespace {

const std::vector<std::string> kOps{"shuffle", "shard", "prefetch", "map_and_batch", "interleave", "map"};

TEST(NearestName, ForgivesSwappedMissingDoubledAndWrongLetters) {
  EXPECT_EQ(nearest_name("shuflfe", kOps), "shuffle");
  EXPECT_EQ(nearest_name("shufle", kOps), "shuffle");
  EXPECT_EQ(nearest_name("sshard", kOps), "shard");
  EXPECT_EQ(nearest_name("pretetch", kOps), "prefetch");
}

TEST(NearestName, PrefersTheNearerOne) {
  EXPECT_EQ(nearest_name("shar", kOps), "shard");
  EXPECT_EQ(nearest_name("mapp", kOps), "map");
}

TEST(NearestName, TakesASwapOfNeighboursAsOneEdit) {
  // "map" is one swap from "mpa", and two substitutions; "cap" would be two substitutions.
  EXPECT_EQ(nearest_name("mpa", std::vector<std::string>{"cab", "map"}), "map");
}

TEST(NearestName, AllowsMoreEditsInLongerNames) {
  EXPECT_EQ(nearest_name("map_and_btc", kOps), "map_and_batch");
  EXPECT_EQ(nearest_name("mapandbatch", kOps), "map_and_batch");
}

TEST(NearestName, AllowsAsManyMoreLettersAsEdits) {
  EXPECT_EQ(nearest_name("shuffling", std::vector<std::string>{"shuffling_by"}), "shuffling_by");
  EXPECT_EQ(nearest_name("shuffling", std::vector<std::string>{"shuffling_all"}), "");
  EXPECT_EQ(nearest_name("shuffling_by", std::vector<std::string>{"a", "shuffling"}), "shuffling");
}

TEST(NearestName, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest_name("quicksort", kOps), "");
  EXPECT_EQ(nearest_name("xyz", kOps), "");
  EXPECT_EQ(nearest_name("map", {}), "");
}

TEST(Suggestion, NamesTheNearestOrElseListsAll) {
  EXPECT_EQ(suggestion("shufle", kOps), " (did you mean 'shuffle'?)");
  const std::array<std::string, 2> known{"fast", "opencv"};
  EXPECT_EQ(suggestion("quicksort", known), " (known: fast, opencv)");
  EXPECT_EQ(suggestion("quicksort", {}), "");
}

TEST(Errors, CarryTheirExitCodeAndMessage) {
  const auto code_of = [](const Error& error) { return static_cast<int>(error.code()); };
  EXPECT_EQ(code_of(SpecError("x")), 2);
  EXPECT_EQ(code_of(DataError("x")), 3);
  EXPECT_EQ(code_of(DeviceError("x")), 4);
  EXPECT_EQ(code_of(ComparisonError("x")), 5);
  EXPECT_EQ(code_of(OutputError("x")), 6);
  EXPECT_EQ(code_of(InterruptedError(ExitCode::interrupted)), 130);
  EXPECT_EQ(code_of(InterruptedError(ExitCode::terminated)), 143);
  EXPECT_STREQ(SpecError("what, where, how").what(), "what, where, how");
}

TEST(Errors, ShowControlCharactersOfWhatTheyQuote) {
  EXPECT_STREQ(DataError("bad\x01\x1b[2Jname\n").what(), "bad\\x01\\x1b[2Jname\\x0a");
  EXPECT_STREQ(ComparisonError("they differ:\n  a\x01").what(), "they differ:\n  a\\x01");
}

}  // namespace
}  // namespace chexbench
