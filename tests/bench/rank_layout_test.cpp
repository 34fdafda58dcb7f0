#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "bench/rank_layout.hpp"
#include "core/errors.hpp"
#include "results/packed.hpp"
#include "spec/parse.hpp"

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

using testing::IsEmpty;

NearGpu gpu(const std::string& uuid, std::vector<int> cpus = {}) { return {{"GPU", uuid, ""}, std::move(cpus)}; }

// Two sockets of four cores, two GPUs on each.
const std::vector<NearGpu> kFour = {gpu("1", {0, 1, 2, 3}), gpu("2", {0, 1, 2, 3}), gpu("3", {4, 5, 6, 7}),
                                    gpu("4", {4, 5, 6, 7})};

TEST(GpuAffinity, ARankTakesAGpuOfItsSocketHoweverRanksWereMapped) {
  const std::vector<int> left{0, 1, 2, 3}, right{4, 5, 6, 7};
  EXPECT_THAT(assign_gpus({{"a", left, kFour}, {"a", right, kFour}, {"a", left, kFour}, {"a", right, kFour}}),
              ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(assign_gpus({{"a", right, kFour}, {"a", right, kFour}}), ElementsAre(2, 3));
}

TEST(GpuAffinity, WhereASocketHasNoneLeftAFarOneServes) {
  const std::vector<int> left{0, 1};
  EXPECT_THAT(assign_gpus({{"a", left, kFour}, {"a", left, kFour}, {"a", left, kFour}}), ElementsAre(0, 1, 2));
}

TEST(GpuAffinity, RanksThatAreNotBoundTakeThemInTurn) {
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_THAT(assign_gpus({{"a", all, kFour}, {"a", all, kFour}, {"a", all, kFour}}), ElementsAre(0, 1, 2));
  const std::vector<NearGpu> untold = {gpu("1"), gpu("2")};
  EXPECT_THAT(assign_gpus({{"a", {3}, untold}, {"a", {2}, untold}}), ElementsAre(0, 1));
}

TEST(GpuAffinity, MoreRanksThanGpusGoRound) {
  const std::vector<NearGpu> two = {gpu("1"), gpu("2")};
  EXPECT_THAT(assign_gpus({{"a", {}, two}, {"a", {}, two}, {"a", {}, two}, {"a", {}, two}}), ElementsAre(0, 1, 0, 1));
}

TEST(GpuAffinity, ALauncherThatShowsEachRankItsOwnIsFollowed) {
  EXPECT_THAT(assign_gpus({{"a", {0}, {gpu("1")}}, {"a", {1}, {gpu("2")}}, {"b", {0}, {gpu("3")}}}),
              ElementsAre(0, 0, 0));
}

TEST(GpuAffinity, TheSystemTellsWhatIsNearADeviceInSmallLetters) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "gpu-affinity";
  std::filesystem::create_directories(folder / "0000:af:00.0");
  std::ofstream(folder / "0000:af:00.0" / "local_cpulist") << "16-17\n";
  EXPECT_THAT(cpus_near("0000:AF:00.0", folder.string()), ElementsAre(16, 17));
  EXPECT_THAT(cpus_near("0000:B0:00.0", folder.string()), IsEmpty());
  std::filesystem::remove_all(folder);
}

TEST(GpuAffinity, WhatARankTellsComesThroughWhole) {
  const RankView view{"node 7", {2, 3}, {{{"NVIDIA H100 80GB HBM3", "GPU-1", "0000:17:00.0"}, {0, 1}}, gpu("GPU-2")}};
  const RankView read = results::unpacked<RankView>(results::packed(view));
  EXPECT_EQ(read.host, view.host);
  EXPECT_EQ(read.cores, view.cores);
  ASSERT_EQ(read.gpus.size(), 2u);
  EXPECT_EQ(read.gpus[0].gpu.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(read.gpus[0].gpu.pci_bus_id, "0000:17:00.0");
  EXPECT_THAT(read.gpus[0].cpus, ElementsAre(0, 1));
  EXPECT_EQ(read.gpus[1].gpu.uuid, "GPU-2");
  EXPECT_THAT(read.gpus[1].cpus, IsEmpty());
}

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Pair;

RankGpu rank_on(const std::string& host, const std::string& uuid) {
  return {.host = host, .gpu = {.name = "Some GPU", .uuid = uuid, .pci_bus_id = "0000:17:00.0"}};
}

std::string error_of(const std::vector<RankGpu>& ranks, bool allow) {
  try {
    check_shared_gpus(ranks, allow);
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.code(), ExitCode::device);
    return error.what();
  }
  return "no error";
}

TEST(GpuLayout, EachItsOwnIsNothingToComplainOf) {
  EXPECT_EQ(error_of({rank_on("a", "GPU-1"), rank_on("a", "GPU-2"), rank_on("b", "GPU-3")}, false), "no error");
  EXPECT_EQ(error_of({rank_on("a", "GPU-1")}, false), "no error");
}

TEST(GpuLayout, TwoRanksOnAGpuAreNamedWithTheirHostTheGpuAndTheWayOut) {
  EXPECT_THAT(
      error_of({rank_on("a", "GPU-1"), rank_on("b", "GPU-2"), rank_on("c", "GPU-3"), rank_on("b", "GPU-2")}, false),
      AllOf(HasSubstr("ranks 1 and 3"), HasSubstr("host b"), HasSubstr("0000:17:00.0"), HasSubstr("Some GPU"),
            HasSubstr("GPU-2"), HasSubstr("--allow-shared-gpu")));
}

TEST(GpuLayout, ContainersThatPassForHostsOfTheirOwnDoNotHideAGpu) {
  EXPECT_THAT(error_of({rank_on("pod1", "GPU-1"), rank_on("pod2", "GPU-1")}, false), HasSubstr("ranks 0 and 1"));
}

TEST(GpuLayout, SharingThatIsAllowedIsForOneHost) {
  EXPECT_EQ(error_of({rank_on("a", "GPU-1"), rank_on("a", "GPU-1")}, true), "no error");
  EXPECT_THAT(error_of({rank_on("a", "GPU-1"), rank_on("a", "GPU-1"), rank_on("b", "GPU-2")}, true),
              AllOf(HasSubstr("hosts a and b"), HasSubstr("loopback")));
  EXPECT_EQ(error_of({rank_on("a", "GPU-1"), rank_on("b", "GPU-2")}, true), "no error") << "nothing is shared";
}

TEST(GpuLayout, RanksThatShareAGpuPassForHostsOfTheirOwnToNccl) {
  std::set<std::string> hosts;
  for (int rank = 0; rank < 3; ++rank) {
    const auto environment = shared_gpu_environment("a", rank);
    EXPECT_EQ(environment.front().first, "NCCL_HOSTID");
    hosts.insert(environment.front().second);
    EXPECT_THAT(environment, Contains(Pair("NCCL_NET", "Socket")));
    EXPECT_THAT(environment, Contains(Pair("NCCL_SOCKET_IFNAME", "=lo")));
  }
  EXPECT_EQ(hosts.size(), 3u);
}

TEST(GpuLayout, ARankWithoutAGpuSaysSo) {
  const auto world = comm::join_world();
  try {
    share_gpus(world->communicator(), {.host = "a"}, {}, false);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("rank 0"), HasSubstr("host a"), HasSubstr("CUDA_VISIBLE_DEVICES")));
  }
}

// What ranks send to each other must arrive complete. This process plays all ranks.
class TwoRanks final : public comm::Communicator {
 public:
  int rank() const override { return 1; }
  int world() const override { return 2; }
  void all_reduce_sum(std::span<float>) override {}
  void all_reduce_sum(std::span<double>) override {}
  void broadcast(std::span<std::byte>, int) override {}
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text, int) override { return {text, text}; }
  std::unique_ptr<comm::Communicator> first(int) override { return nullptr; }
  std::unique_ptr<Reducer> make_reducer(const spec::CommSpec&) override { return nullptr; }
  std::unique_ptr<Reducer> make_device_reducer(int ranks, const comm::DeviceReducerConfig& config) override {
    asked_for.push_back({ranks, config.gpu, config.comm.backend});
    return nullptr;
  }

  struct Asked {
    int ranks;
    int gpu;
    spec::CommBackend backend;
  };
  std::vector<Asked> asked_for;
};

class WorldOfTwo final : public comm::World {
 public:
  TwoRanks& communicator() override { return ranks_; }
  std::string library() const override { return "none"; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  TwoRanks ranks_;
};

void unset_environment() {
  for (const auto& [name, value] : shared_gpu_environment("a", 1)) unsetenv(name.c_str());
}

TEST(GpuLayout, TheEnvironmentIsSetWhereRanksShareAGpuAndMayAndNotBefore) {
  const std::vector<engine::GpuIdentity> visible = {{"Other GPU", "GPU-2", "0000:18:00.0"}};
  TwoRanks ranks;
  unsetenv("NCCL_HOSTID");
  try {
    share_gpus(ranks, {.local_rank = 1, .host = "a"}, visible, false);
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("Other GPU"), HasSubstr("GPU-2"), HasSubstr("0000:18:00.0")));
  }
  EXPECT_EQ(std::getenv("NCCL_HOSTID"), nullptr);
  const GpuShare share = share_gpus(ranks, {.local_rank = 1, .host = "a"}, visible, true);
  EXPECT_EQ(share.gpu, 0);
  EXPECT_TRUE(share.shared);
  EXPECT_STREQ(std::getenv("NCCL_HOSTID"), "a-rank-1");
  unset_environment();
}

// The ranks of a smaller world get a reducer only if the other ranks take part in making it.
TEST(GpuLayout, ARankThatSitsATrialOnGpusOutTakesPartInMakingItsReducer) {
  WorldOfTwo world;
  const std::string spec = R"({"engine": "cuda", "comm": {"backend": "mpi"}, "data": {"format": "ready"}, "ranks": 1})";
  results::Report report = plan_report("test", spec::expand(spec::parse_spec(spec, "test.json", {})), world);
  int asked = 0;
  const auto visible = [&] {
    ++asked;
    return std::vector<engine::GpuIdentity>{{"Some GPU", "GPU-1", ""}, {"Some GPU", "GPU-2", ""}};
  };
  run_trials(report, world, {.allow_shared_gpu = true, .visible_gpus = visible});
  unset_environment();
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(world.communicator().asked_for.size(), 1u);
  EXPECT_EQ(world.communicator().asked_for[0].ranks, 1);
  EXPECT_EQ(world.communicator().asked_for[0].gpu, 1) << "of the second rank of the host";
  EXPECT_EQ(world.communicator().asked_for[0].backend, spec::CommBackend::mpi);
}

TEST(GpuLayout, NobodyAsksForGpusWhereNoEngineComputesOnThem) {
  WorldOfTwo world;
  results::Report report = plan_report(
      "test", spec::expand(spec::parse_spec(R"({"engine": "none", "data": {"format": "ready"}, "ranks": 1})", "x", {})),
      world);
  run_trials(report, world, {.visible_gpus = []() -> std::vector<engine::GpuIdentity> { throw DeviceError("asked"); }});
  EXPECT_TRUE(world.communicator().asked_for.empty());
}

TEST(GpuLayout, DeterministicSumsTakeOneAlgorithmAndOneProtocol) {
  using Setting = std::pair<std::string, std::string>;
  EXPECT_THAT(deterministic_environment(),
              testing::ElementsAre(Setting("NCCL_ALGO", "Ring"), Setting("NCCL_PROTO", "Simple")));
}

}  // namespace
}  // namespace chexbench::bench
