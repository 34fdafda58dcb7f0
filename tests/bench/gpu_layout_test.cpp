#include "bench/gpu_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "bench/plan.hpp"
#include "bench/protocol.hpp"
#include "core/errors.hpp"
#include "spec/parse.hpp"

namespace chexbench::bench {
namespace {

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
  const std::string spec =
      R"({"engine": "cuda", "comm": {"backend": "mpi"}, "data": {"format": "synthetic"}, "ranks": 1})";
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
      "test",
      spec::expand(spec::parse_spec(R"({"engine": "none", "data": {"format": "synthetic"}, "ranks": 1})", "x", {})),
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
