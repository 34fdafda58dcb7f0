#include "engine/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/random.hpp"

namespace chexbench::engine {
namespace {

// Random tensors, each written at one time and last read at a later one.
std::vector<Lifetime> random_lifetimes(std::uint64_t seed, int count) {
  RandomStream stream(seed);
  std::vector<Lifetime> lifetimes;
  for (int time = 0; time < count; ++time) {
    const int life = static_cast<int>(stream.below(20));
    lifetimes.push_back({.bytes = 256 * (stream.below(1000) + 1), .first_use = time, .last_use = time + life});
  }
  return lifetimes;
}

// Returns the largest number of bytes that are alive at one time. No plan can need less.
std::size_t lower_bound(std::span<const Lifetime> lifetimes) {
  std::map<int, std::ptrdiff_t> changes;  // Change of the bytes that are alive, by time.
  for (const Lifetime& lifetime : lifetimes) {
    changes[lifetime.first_use] += static_cast<std::ptrdiff_t>(lifetime.bytes);
    changes[lifetime.last_use + 1] -= static_cast<std::ptrdiff_t>(lifetime.bytes);
  }
  std::ptrdiff_t alive = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, alive += change);
  return static_cast<std::size_t>(most);
}

TEST(PlanArena, TensorsThatLiveAtOnceDoNotOverlap) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto lifetimes = random_lifetimes(seed, 80);
    const ArenaPlan plan = plan_arena(lifetimes);
    for (std::size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        const bool meet_in_time =
            lifetimes[a].first_use <= lifetimes[b].last_use && lifetimes[b].first_use <= lifetimes[a].last_use;
        const bool meet_in_space = plan.offsets[a] < plan.offsets[b] + lifetimes[b].bytes &&
                                   plan.offsets[b] < plan.offsets[a] + lifetimes[a].bytes;
        EXPECT_FALSE(meet_in_time && meet_in_space) << "seed " << seed << ": " << a << " and " << b;
      }
    }
  }
}

TEST(PlanArena, TakesNotMuchMoreThanMustBe) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto lifetimes = random_lifetimes(seed, 80);
    const std::size_t bytes = plan_arena(lifetimes).bytes, bound = lower_bound(lifetimes);
    EXPECT_GE(bytes, bound);
    EXPECT_LT(static_cast<double>(bytes), 1.25 * static_cast<double>(bound)) << "seed " << seed;
  }
}

TEST(PlanArena, TensorsThatNeverMeetShareMemory) {
  const std::vector<Lifetime> lifetimes{{1024, 0, 3}, {512, 4, 5}, {512, 4, 9}, {1024, 10, 10}};
  const ArenaPlan plan = plan_arena(lifetimes);
  EXPECT_EQ(plan.bytes, 1024u);
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{0, 0, 512, 0}));
}

TEST(PlanArena, OneThatIsReadWhenAnotherIsWrittenKeepsItsMemory) {
  const std::vector<Lifetime> lifetimes{{256, 0, 1}, {256, 1, 2}};
  EXPECT_EQ(plan_arena(lifetimes).bytes, 512u);
}

TEST(PlanArena, NothingTakesNothing) { EXPECT_EQ(plan_arena({}).bytes, 0u); }

}  // namespace
}  // namespace chexbench::engine
