#include "core/affinity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <cstdlib>
#include <set>
#include <thread>

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

// A process of its own, as hwloc is asked once. The variable makes it see one CPU, as it does where /sys cannot be
// read.
TEST(UsableCores, AreAllCpusWhereTheMachineCannotBeRead) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("HWLOC_SYNTHETIC", "core:1 pu:1", 1);
        const std::vector<int> cores = usable_cores();
        std::exit(std::set<int>(cores.begin(), cores.end()) == cpus_of_this_thread() ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
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
