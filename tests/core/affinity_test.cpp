#include "core/affinity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <iterator>
#include <set>
#include <thread>

#include "core/scratch.hpp"

namespace chexbench {
namespace {

using testing::ElementsAre;

std::set<int> cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::set<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.insert(cpu);
  }
  return cpus;
}

TEST(UsableCores, AreDistinctAndAmongTheCpusAllowed) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  const std::set<int> allowed = cpus_of_this_thread();
  const std::set<int> distinct(cores.begin(), cores.end());
  EXPECT_EQ(distinct.size(), cores.size());
  for (const int core : cores) EXPECT_TRUE(allowed.contains(core)) << core;
}

TEST(UsableCores, ShrinkToTheAffinityMask) {
  std::thread([] {
    const int first = *cpus_of_this_thread().begin();
    bind_this_thread({first});
    EXPECT_THAT(usable_cores(), ElementsAre(first));
  }).join();
}

TEST(UsableCores, AreAllCpusWhereTheMachineCannotBeRead) {
  const std::vector<int> cores = usable_cores("/no such folder");
  EXPECT_EQ(std::set<int>(cores.begin(), cores.end()), cpus_of_this_thread());
}

// The kernel's files about a CPU, in a folder of this test.
void describe_cpu(const ScratchFolder& folder, int cpu, const std::string& hyperthreads, int socket) {
  const std::string topology = folder / ("cpu" + std::to_string(cpu) + "/topology/");
  write_text(topology + "thread_siblings_list", hyperthreads + '\n');
  write_text(topology + "physical_package_id", std::to_string(socket) + '\n');
}

TEST(UsableCores, HaveOneCpuEachAndGoBySocket) {
  const std::set<int> allowed = cpus_of_this_thread();
  if (allowed.size() < 2) GTEST_SKIP() << "one CPU only";
  const int first = *allowed.begin(), second = *std::next(allowed.begin());
  const ScratchFolder folder;
  std::thread([&] {
    bind_this_thread({first, second});
    describe_cpu(folder, first, "0,1", 0);
    describe_cpu(folder, second, "0,1", 0);
    EXPECT_THAT(usable_cores(folder.path()), ElementsAre(first));
    describe_cpu(folder, first, "0", 1);
    describe_cpu(folder, second, "1", 0);
    EXPECT_THAT(usable_cores(folder.path()), ElementsAre(second, first));
  }).join();
}

TEST(BindThisThread, LeavesOnlyTheseCpus) {
  std::thread([] {
    const std::set<int> before = cpus_of_this_thread();
    bind_this_thread({});
    EXPECT_EQ(cpus_of_this_thread(), before);
    bind_this_thread({*before.rbegin()});
    EXPECT_EQ(cpus_of_this_thread(), std::set<int>{*before.rbegin()});
  }).join();
}

TEST(BindThisThread, WarnsAndGoesOnWhereTheSystemRefuses) {
  testing::internal::CaptureStderr();
  std::thread([] {
    const std::set<int> before = cpus_of_this_thread();
    bind_this_thread({CPU_SETSIZE - 1});
    EXPECT_EQ(cpus_of_this_thread(), before);
  }).join();
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("cannot bind"));
}

TEST(NameThisThread, KeepsFifteenCharacters) {
  std::thread([] {
    name_this_thread("a_name_longer_than_fifteen");
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    EXPECT_STREQ(name, "a_name_longer_t");
  }).join();
}

}  // namespace
}  // namespace chexbench
