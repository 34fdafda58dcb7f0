#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/errors.hpp"
#include "core/random.hpp"
#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

std::vector<std::uint32_t> order_of(Iterator& iterator) {
  std::vector<std::uint32_t> result;
  Element element;
  while (iterator.next(element)) result.push_back(std::get<FileRef>(element.value).file);
  return result;
}

std::vector<std::uint32_t> shuffled(std::size_t count, std::int64_t buffer, std::uint64_t seed,
                                    std::uint32_t epoch = 0) {
  const dataset::Dataset dataset = files(count);
  Chain chain(dataset, {op("list_files"), op("shuffle", {{"buffer", buffer}})}, {.seed = seed});
  return order_of(*chain.iterate(epoch));
}

TEST(Shuffle, IsAReservoirForEverySizeOfBuffer) {
  RandomStream random(7);
  for (int i = 0; i < 60; ++i) {
    const std::size_t count = random.below(200);
    const auto buffer = static_cast<std::int64_t>(1 + random.below(60));
    const auto order = shuffled(count, buffer, random.next());
    ASSERT_EQ(order.size(), count);
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), count);
    // Before output k is drawn, the buffer has seen inputs 0 .. k + buffer - 1 and no more.
    for (std::size_t k = 0; k < count; ++k) EXPECT_LT(order[k], k + static_cast<std::size_t>(buffer));
  }
}

TEST(Shuffle, WithABufferOfOneKeepsTheOrder) {
  std::vector<std::uint32_t> straight(50);
  std::iota(straight.begin(), straight.end(), 0u);
  EXPECT_EQ(shuffled(50, 1, 3), straight);
}

TEST(Shuffle, DrawsUniformly) {
  constexpr int kRuns = 4000;
  constexpr std::size_t kElements = 8;
  std::array<int, kElements> first{};
  std::array<int, kElements> last{};
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto order = shuffled(kElements, kElements, seed);
    ++first[order.front()];
    ++last[order.back()];
  }
  // Binomial(4000, 1/8): mean 500, deviation 21.
  for (std::size_t i = 0; i < kElements; ++i) {
    EXPECT_NEAR(first[i], 500, 5 * 21) << i;
    EXPECT_NEAR(last[i], 500, 5 * 21) << i;
  }
}

TEST(Shuffle, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(shuffled(100, 30, 1, 2), shuffled(100, 30, 1, 2));
  EXPECT_NE(shuffled(100, 30, 1, 2), shuffled(100, 30, 1, 3));
  EXPECT_NE(shuffled(100, 30, 1, 2), shuffled(100, 30, 2, 2));
}

TEST(Shuffle, TakesASeedOfItsOwnInsteadOfTheTrials) {
  const dataset::Dataset dataset = files(40);
  const auto with = [&](std::int64_t own, std::uint64_t trial) {
    Chain chain(dataset, {op("list_files"), op("shuffle", {{"seed", own}})}, {.seed = trial});
    return order_of(*chain.iterate());
  };
  EXPECT_EQ(with(5, 1), with(5, 2));
  EXPECT_NE(with(5, 1), with(6, 1));
}

TEST(Shuffle, IsTheSameOnAllRanksBeforeAShardAndDiffersBehindIt) {
  const dataset::Dataset dataset = files(40);
  const auto of_rank = [&](int rank, std::vector<spec::OpSpec> ops) {
    Chain chain(dataset, std::move(ops), {.rank = rank, .world = 2});
    return order_of(*chain.iterate());
  };
  const std::vector<spec::OpSpec> before = {op("list_files"), op("shuffle", {{"buffer", "all"}})};
  EXPECT_EQ(of_rank(0, before), of_rank(1, before));

  const std::vector<spec::OpSpec> behind = {op("list_files"), op("shard"), op("shuffle", {{"buffer", "all"}})};
  auto even = of_rank(0, behind);
  auto odd = of_rank(1, behind);
  for (std::size_t i = 0; i < even.size(); ++i) EXPECT_EQ(even[i] % 2, 0u);
  for (auto& file : odd) file -= 1;
  EXPECT_NE(even, odd) << "both ranks draw from one stream";
}

TEST(Shuffle, OfAllThatNeverEndsIsRefused) {
  const dataset::Dataset dataset = files(10);
  EXPECT_THROW(Chain(dataset, {op("list_files"), op("repeat"), op("shuffle", {{"buffer", "all"}})}), SpecError);
}

}  // namespace
}  // namespace chexbench::pipeline::test
