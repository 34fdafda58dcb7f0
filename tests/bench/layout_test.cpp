#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/layout.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;

HostCores four_cores(int local_rank, int local_world) {
  return {.cores = {0, 1, 2, 3}, .shared = true, .local_rank = local_rank, .local_world = local_world};
}

TEST(ShareCores, GivesEachRankItsRunOfNeighbours) {
  EXPECT_THAT(share_cores(four_cores(0, 2), {}, 2).cores, ElementsAre(0, 1));
  EXPECT_THAT(share_cores(four_cores(1, 2), {}, 2).cores, ElementsAre(2, 3));
  EXPECT_THAT(share_cores(four_cores(2, 3), {}, 3).cores, ElementsAre(2));
}

TEST(ShareCores, GivesASubWorldNoMoreCoresThanTheWholeWorld) {
  EXPECT_THAT(share_cores(four_cores(0, 4), {}, 1).cores, ElementsAre(0));
}

TEST(ShareCores, LeavesCoresAloneThatTheLauncherHasDivided) {
  HostCores bound{.cores = {6, 7}, .shared = false, .local_rank = 3, .local_world = 4};
  const CoreShare share = share_cores(bound, {}, 4);
  EXPECT_THAT(share.cores, ElementsAre(6, 7));
  EXPECT_FALSE(share.oversubscribed);
}

TEST(ShareCores, FlagsMoreRanksTimesCoresThanTheHostHas) {
  EXPECT_FALSE(share_cores(four_cores(0, 4), {.cores_per_rank = 2}, 2).oversubscribed);
  const CoreShare third = share_cores(four_cores(2, 4), {.cores_per_rank = 2}, 4);
  EXPECT_TRUE(third.oversubscribed);
  EXPECT_THAT(third.cores, ElementsAre(0, 1));
  EXPECT_TRUE(share_cores(four_cores(0, 8), {}, 8).oversubscribed);
}

TEST(ShareCores, AllMeansEveryCoreForEveryRank) {
  EXPECT_THAT(share_cores(four_cores(1, 2), {.all_cores = true}, 2).cores, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(share_cores(four_cores(1, 2), {.all_cores = true}, 2).oversubscribed);
  EXPECT_FALSE(share_cores(four_cores(0, 2), {.all_cores = true}, 1).oversubscribed);
}

}  // namespace
}  // namespace chexbench::bench
