#include "measure/surroundings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace chexbench::measure {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two ranks on a quiet machine with eight cores, and warm data on a local disk: nothing to warn about.
Surroundings quiet() {
  Surroundings around;
  around.cpu = {.sockets = 2,
                .physical_cores = 8,
                .hardware_threads = 8,
                .numa_nodes = {{0, 1, 2, 3}, {4, 5, 6, 7}},
                .governors = {{"performance", 8}},
                .load = 0.5};
  around.memory = {.total_bytes = 64'000'000'000, .available_bytes = 60'000'000'000};
  around.ranks = {{.host = "a", .cores = {0, 1, 2, 3}}, {.host = "a", .cores = {4, 5, 6, 7}}};
  around.data = DataPlace{.root = "data",
                          .file_system = {.kind = FileSystemKind::local, .type = "ext4"},
                          .sample = {.files = 1, .bytes = 100, .resident_bytes = 100}};
  return around;
}

TEST(Warnings, AreNoneOnAQuietMachine) {
  EXPECT_THAT(warnings(quiet()), IsEmpty());
  Surroundings unknown;
  unknown.ranks = {{.host = "a", .cores = {0}}};
  EXPECT_THAT(warnings(unknown), IsEmpty()) << "where the kernel tells nothing";
}

TEST(Warnings, NameSharedMemoryThatIsTooLittleForARankOnEachCore) {
  Surroundings around = quiet();
  around.shared = {.exists = true, .total_bytes = 64 << 20, .free_bytes = 64 << 20, .problem = {}};
  EXPECT_THAT(warnings(around), IsEmpty()) << "8 cores";
  around.shared.total_bytes = 32 << 20;
  EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr("/dev/shm holds 34 MB"), HasSubstr("35 MB"),
                                                  HasSubstr("8 ranks"), HasSubstr("--shm-size"))));
}

TEST(Warnings, NameAGovernorThatLetsClocksWander) {
  Surroundings around = quiet();
  around.cpu.governors = {{"performance", 6}, {"powersave", 2}};
  EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr("'powersave' on 2 of 8 CPUs"), HasSubstr("cpupower"))));
}

TEST(Warnings, TellOfOtherProgramsOnTheRanksCores) {
  Surroundings around = quiet();
  around.cpu.load = 2.5;
  EXPECT_THAT(warnings(around),
              ElementsAre(AllOf(HasSubstr("2.5"), HasSubstr("8 of 8 cores"), HasSubstr("in the same rounds"))));
  around.ranks.pop_back();
  EXPECT_THAT(warnings(around), IsEmpty()) << "four cores are left for them";
}

TEST(Warnings, TellOfACgroupThatGrantsLessThanTheCores) {
  Surroundings around = quiet();
  around.cgroup.cpus = 1.5;
  EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr("1.50 cores"), HasSubstr("ask the container"))));
  around.cgroup.cpus = 8;
  EXPECT_THAT(warnings(around), IsEmpty());
}

TEST(Warnings, TellOfLittleMemoryWhetherTheMachinesOrTheCgroups) {
  Surroundings around = quiet();
  around.cgroup.memory_bytes = 1'000'000'000;
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("1.0 GB of memory is available")));
  around.cgroup.memory_bytes.reset();
  around.memory.available_bytes = 500'000'000;
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("0.5 GB of memory is available")));
}

TEST(Warnings, TellOfRanksWhoseCoresOverlap) {
  Surroundings around = quiet();
  around.ranks = {{.host = "a", .cores = {0, 1, 2}}, {.host = "a", .cores = {2, 3}}};
  EXPECT_THAT(warnings(around),
              ElementsAre(AllOf(HasSubstr("ranks 0 and 1"), HasSubstr("0-2 and 2-3"), HasSubstr("--bind-to socket"))));
  around.ranks[1].host = "b";
  EXPECT_THAT(warnings(around), IsEmpty()) << "cores of different hosts";
}

TEST(Warnings, TellOfTwoRanksOnOneCoreButNotOfRanksThatDivideASocket) {
  Surroundings around = quiet();
  around.ranks = {{.host = "a", .cores = {0}}, {.host = "a", .cores = {0}}};
  EXPECT_THAT(warnings(around),
              ElementsAre(AllOf(HasSubstr("2 ranks share 1 core of a"), HasSubstr("one rank a core"))));
  around.ranks = {{.host = "a", .cores = {0, 1}}, {.host = "a", .cores = {0, 1}}};
  EXPECT_THAT(warnings(around), IsEmpty());
}

TEST(Warnings, TellOfARankThatSpansNumaNodesWhereThereAreSeveralRanks) {
  Surroundings around = quiet();
  around.ranks = {{.host = "a", .cores = {2, 3, 4, 5}}, {.host = "a", .cores = {6, 7}}};
  EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr("rank 0"), HasSubstr("2 NUMA nodes"))));
  around.ranks.pop_back();
  EXPECT_THAT(warnings(around), IsEmpty());
}

TEST(Warnings, TellOfThreadsThatSpin) {
  Surroundings around = quiet();
  around.threading = {{"OMP_WAIT_POLICY", "ACTIVE"}, {"OMP_NUM_THREADS", "4"}, {"KMP_BLOCKTIME", "200"}};
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("OMP_WAIT_POLICY=ACTIVE"), HasSubstr("KMP_BLOCKTIME=200")));
  around.threading = {{"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "0"}};
  EXPECT_THAT(warnings(around), IsEmpty());
}

TEST(Warnings, TellOfDataThatAreNotOnALocalDisk) {
  Surroundings around = quiet();
  around.data->file_system = {.kind = FileSystemKind::network, .type = "nfs4", .source = "server:/d"};
  EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr("nfs4 (server:/d)"), HasSubstr("copy"))));
  around.data->file_system.kind = FileSystemKind::fuse;
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("another program")));
  around.data->file_system.kind = FileSystemKind::overlay;
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("overlay")));
  around.data->file_system.kind = FileSystemKind::memory;
  EXPECT_THAT(warnings(around), ElementsAre(HasSubstr("in memory")));
}

TEST(Warnings, TellOfAColdCacheAndOfOneThatIsPartlyFilled) {
  Surroundings around = quiet();
  for (const int resident_bytes : {0, 40}) {
    around.data->sample.resident_bytes = resident_bytes;
    EXPECT_THAT(warnings(around), ElementsAre(AllOf(HasSubstr(std::to_string(resident_bytes) + " % of sampled"),
                                                    HasSubstr("measure.page_cache"))));
  }
}

}  // namespace
}  // namespace chexbench::measure
