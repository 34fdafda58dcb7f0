#include "bench/gpu_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include "results/packed.hpp"

namespace chexbench::bench {
namespace {

using testing::ElementsAre;
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

TEST(GpuAffinity, ListsOfCpusAreTheKernels) {
  EXPECT_THAT(parse_cpu_list("0-3,8,10-11"), ElementsAre(0, 1, 2, 3, 8, 10, 11));
  EXPECT_THAT(parse_cpu_list("5"), ElementsAre(5));
  for (const char* text : {"", "x", "3-", "5-2", "-1", "0-99999999", "1,,2"}) {
    EXPECT_THAT(parse_cpu_list(text), IsEmpty()) << text;
  }
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

}  // namespace
}  // namespace chexbench::bench
