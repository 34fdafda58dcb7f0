#include "core/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace chexbench {
namespace {

TEST(RandomStream, GivesTheReferenceValuesOfSplitmix64) {
  // The first values of Vigna's splitmix64.c for the state 1234567.
  RandomStream stream(1234567);
  for (const std::uint64_t expected : {6457827717110365317ull, 3203168211198807973ull, 9817491932198370423ull,
                                       4593380528125082431ull, 16408922859458223821ull}) {
    EXPECT_EQ(stream.next(), expected);
  }
}

TEST(RandomStream, UniformStaysWithinItsBoundsAndIsExactInFloat) {
  RandomStream stream(11);
  double sum = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const double value = stream.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    ASSERT_EQ(static_cast<double>(static_cast<float>(value)), value);
    sum += value;
  }
  // The mean's standard deviation is 1 / sqrt(12 x 20000) = 0.002; the tolerance is five of them.
  EXPECT_NEAR(sum / kDraws, 0.5, 0.0102);
}

TEST(RandomStream, BelowReachesEveryValueAboutEquallyOften) {
  RandomStream stream(5);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70000;
  for (int i = 0; i < kDraws; ++i) ++counts.at(stream.below(counts.size()));
  // Each count has mean 10000 and a standard deviation of 93; the tolerance is five of them.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 465);
}

TEST(RandomStream, BelowOneIsZero) {
  RandomStream stream(5);
  EXPECT_EQ(stream.below(1), 0u);
}

TEST(RandomStream, BelowAHugeBoundStaysBelowIt) {
  RandomStream stream(9);
  constexpr std::uint64_t kBound = (std::uint64_t{1} << 63) + 1;  // half of all draws are rejected
  bool upper_half = false;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t value = stream.below(kBound);
    ASSERT_LT(value, kBound);
    upper_half |= value > kBound / 2;
  }
  EXPECT_TRUE(upper_half);
}

TEST(DeriveSeed, SeparatesSubStreams) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (std::uint64_t key = 0; key < 50; ++key) seeds.insert(derive_seed(seed, key));
  }
  EXPECT_EQ(seeds.size(), 2500u);
}

TEST(DeriveSeed, DependsOnTheOrderOfKeys) {
  EXPECT_NE(derive_seed(derive_seed(1, 2), 3), derive_seed(derive_seed(1, 3), 2));
}

TEST(Fnv1a64, GivesTheReferenceValues) {
  // From the test vectors of draft-eastlake-fnv, appendix C.
  EXPECT_EQ(fnv1a64(""), 0xcbf29ce484222325ull);
  EXPECT_EQ(fnv1a64("a"), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171f73967e8ull);
}

}  // namespace
}  // namespace chexbench
