#include "core/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace chexbench {
namespace {

TEST(ParseNumber, TakesAWholeText) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(parse_number<unsigned>("17", 8), 15u);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500);
}

TEST(ParseNumber, RefusesWhatIsMoreThanANumberOrNone) {
  for (const char* const text : {"", " 1", "1 ", "+1", "1x", "x", "-"}) EXPECT_FALSE(parse_number<int>(text)) << text;
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_FALSE(parse_number<int>("1.5"));
}

TEST(ParseNumber, RefusesWhatIsOutOfRange) {
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parse_number<double>("1e999"));
}

TEST(TakeNumber, RemovesWhatItTook) {
  std::string_view text = "12-34";
  EXPECT_EQ(take_number<int>(text), 12);
  EXPECT_EQ(text, "-34");
  EXPECT_EQ(take_number<int>(text), -34);
  EXPECT_EQ(text, "");
}

TEST(TakeNumber, LeavesATextWithoutANumberAsItIs) {
  std::string_view text = "a1";
  EXPECT_FALSE(take_number<int>(text));
  EXPECT_EQ(text, "a1");
}

}  // namespace
}  // namespace chexbench
