#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/core_layout.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;

// Returns the HostCores of rank `rank` of `ranks` ranks, all of which may use the same four cores.
HostCores four_cores(int rank, int ranks) {
  return {.cores = {0, 1, 2, 3}, .sharers = ranks, .place = rank, .local_rank = rank};
}

TEST(HostCores, AreSharedByTheRanksOfOneHostThatMayUseTheSame) {
  const std::vector<RankCores> ranks = {{"a", {0, 1}}, {"b", {0, 1}}, {"a", {0, 1}}, {"a", {0, 1}}};
  const HostCores third = host_cores_of(ranks, 2);
  EXPECT_THAT(third.cores, ElementsAre(0, 1));
  EXPECT_EQ(third.sharers, 3);
  EXPECT_EQ(third.place, 1);
  EXPECT_EQ(third.local_rank, 1);
  EXPECT_FALSE(third.overlaps);
  EXPECT_EQ(host_cores_of(ranks, 1).sharers, 1);
}

// Four ranks on two sockets, bound as by Open MPI's mpirun --map-by socket and srun --cpu-bind=sockets.
TEST(HostCores, OfASocketAreSharedByTheRanksBoundToIt) {
  const std::vector<RankCores> ranks = {
      {"a", {0, 1, 2, 3}}, {"a", {4, 5, 6, 7}}, {"a", {0, 1, 2, 3}}, {"a", {4, 5, 6, 7}}};
  const HostCores last = host_cores_of(ranks, 3);
  EXPECT_EQ(last.sharers, 2);
  EXPECT_EQ(last.place, 1);
  EXPECT_EQ(last.local_rank, 3);
  EXPECT_FALSE(last.overlaps);
  EXPECT_THAT(share_cores(last, {}, 4).cores, ElementsAre(6, 7));
  EXPECT_FALSE(share_cores(last, {}, 4).oversubscribed);
}

TEST(HostCores, ThatOverlapInPartAreOversubscribed) {
  const HostCores first = host_cores_of({{"a", {0, 1}}, {"a", {1, 2}}}, 0);
  EXPECT_TRUE(first.overlaps);
  EXPECT_TRUE(share_cores(first, {}, 2).oversubscribed);
}

// CPUs 0 and 1 are the hyperthreads of a core, as on many virtual machines, and 2 and 3 those of another.
TEST(ShareCores, GivesRanksBeyondTheCoresHyperthreads) {
  const std::vector<RankCores> four(4, {"a", {0, 2}, {1, 3}});
  const auto cpus = [&](std::size_t rank) { return share_cores(host_cores_of(four, rank), {}, 4).cores; };
  EXPECT_THAT(cpus(0), ElementsAre(0));
  EXPECT_THAT(cpus(1), ElementsAre(2));
  EXPECT_THAT(cpus(2), ElementsAre(1));
  EXPECT_THAT(cpus(3), ElementsAre(3));
  EXPECT_TRUE(share_cores(host_cores_of(four, 3), {}, 4).oversubscribed);
  EXPECT_FALSE(share_cores(host_cores_of(four, 1), {}, 2).oversubscribed);
  const RankCores without{"a", {0, 1}, {}};
  EXPECT_THAT(share_cores(host_cores_of({without, without, without}, 2), {}, 3).cores, ElementsAre(0));
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
  const HostCores bound{.cores = {6, 7}, .local_rank = 3};
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
