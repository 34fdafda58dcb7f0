#include "kernel_time/covered_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace chexbench::measure {
namespace {

constexpr std::uint64_t kEnd = 1'000'000;

TEST(CoveredTime, CountsWhatOverlapsOnce) {
  CoveredTime busy;
  busy.add(10, 20);
  busy.add(15, 30);
  busy.add(12, 14);
  busy.add(40, 50);
  EXPECT_EQ(busy.covered_ns(kEnd), 30u);
}

TEST(CoveredTime, JoinsPiecesThatALateOneFills) {
  CoveredTime busy;
  busy.add(10, 20);
  busy.add(30, 40);
  busy.add(18, 35);
  busy.add(40, 45);
  EXPECT_EQ(busy.covered_ns(kEnd), 35u);
}

TEST(CoveredTime, AnIntervalIsToldWhatItAdds) {
  CoveredTime busy;
  EXPECT_EQ(busy.add(10, 20), 10u);
  EXPECT_EQ(busy.add(12, 15), 0u);
  EXPECT_EQ(busy.add(30, 40), 10u);
  EXPECT_EQ(busy.add(5, 35), 15u);
  EXPECT_EQ(busy.add(40, 40), 0u);
}

TEST(CoveredTime, AnEmptyOrReversedIntervalCoversNothing) {
  CoveredTime busy;
  busy.add(10, 10);
  busy.add(30, 20);
  EXPECT_EQ(busy.covered_ns(kEnd), 0u);
}

TEST(CoveredTime, CountsOnlyWhatLiesBeforeTheEnd) {
  CoveredTime busy;
  busy.add(10, 20);
  busy.add(30, 40);
  EXPECT_EQ(busy.covered_ns(35), 15u);
  EXPECT_EQ(busy.covered_ns(5), 0u);
}

TEST(CoveredTime, BeginsWithinWhatIsThereAndCutsWhatComesLate) {
  CoveredTime busy;
  busy.add(10, 20);
  busy.add(30, 40);
  busy.begin_at(35);
  EXPECT_EQ(busy.covered_ns(kEnd), 5u);
  busy.add(0, 37);
  busy.add(50, 60);
  EXPECT_EQ(busy.covered_ns(kEnd), 15u);
  EXPECT_TRUE(busy.exact(kEnd));
}

// Compares with a count of the covered nanoseconds. The intervals are shuffled over a distance that CoveredTime
// keeps open.
TEST(CoveredTime, IsExactInAnyOrderWithinItsPieces) {
  std::mt19937 random(7);
  std::vector<bool> covered(20'000);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;
  for (std::uint64_t begin = 1; begin + 40 < covered.size(); begin += random() % 12) {
    intervals.emplace_back(begin, begin + random() % 9);
    std::fill(covered.begin() + static_cast<long>(begin), covered.begin() + static_cast<long>(intervals.back().second),
              true);
  }
  for (std::size_t i = 0; i + 8 < intervals.size(); i += 8) {
    std::shuffle(intervals.begin() + static_cast<long>(i), intervals.begin() + static_cast<long>(i) + 8, random);
  }
  CoveredTime busy(64);
  for (const auto& [begin, end] : intervals) busy.add(begin, end);
  EXPECT_EQ(busy.covered_ns(kEnd), static_cast<std::uint64_t>(std::ranges::count(covered, true)));
  EXPECT_TRUE(busy.exact(kEnd));
}

TEST(CoveredTime, SaysThatItIsNotExactWhereAPieceCameTooLate) {
  CoveredTime busy(4);
  for (std::uint64_t i = 1; i <= 5; ++i) busy.add(100 * i, 100 * i + 10);
  EXPECT_TRUE(busy.exact(kEnd));
  EXPECT_FALSE(busy.exact(250)) << "summed up beyond it";
  busy.add(150, 405);
  EXPECT_FALSE(busy.exact(kEnd));
  EXPECT_EQ(busy.covered_ns(kEnd), 10u + 10 + 10 + (410 - 310) + 10) << "from where nothing is summed up yet";
  busy.begin_at(400);
  EXPECT_TRUE(busy.exact(kEnd)) << "what was before does not matter any more";
}

}  // namespace
}  // namespace chexbench::measure
