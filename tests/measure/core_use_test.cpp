#include "measure/process_sampler.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "fake_system.hpp"

namespace chexbench::measure {
namespace {

TEST(CoreUse, IsThatOfTheCoresAskedFor) {
  FakeSystem system;
  system.write("proc/stat",
               "cpu  9999 0 0 0 0 0 0 0 0 0\ncpu0 100 20 30 4000 50 6 7 80 9 1\ncpu1 1 1 1 1 1 1 1 1 1 1\n"
               "cpu10 1000 0 0 0 0 0 0 20 0 0\nintr 12345\n");
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const std::vector<int> cores{0, 10};
  const auto use = sample_core_use(cores, system.roots());
  ASSERT_TRUE(use.has_value());
  EXPECT_DOUBLE_EQ(use->busy_s, (163 + 1000) * tick_s);
  EXPECT_DOUBLE_EQ(use->steal_s, 100 * tick_s);
  EXPECT_EQ(use->throttled_s, 0);
  EXPECT_EQ(use->memory_stall_s, 0);
}

TEST(CoreUse, KnowsThrottlingAndMemoryPressure) {
  FakeSystem system;
  system.write("proc/stat", "cpu0 1 0 0 0 0 0 0 0 0 0\n");
  system.write("proc/self/cgroup", "0::/job\n");
  system.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 7\nnr_throttled 2\nthrottled_usec 1500000\n");
  system.write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=250000\nfull avg10=0 total=1\n");
  const std::vector<int> cores{0};
  const auto use = sample_core_use(cores, system.roots());
  EXPECT_DOUBLE_EQ(use->throttled_s, 1.5);
  EXPECT_DOUBLE_EQ(use->memory_stall_s, 0.25);
}

TEST(CoreUse, IsUnknownWithoutProcStat) {
  const FakeSystem system;
  EXPECT_FALSE(sample_core_use(std::vector<int>{0}, system.roots()).has_value());
}

TEST(CoreUse, GrowsOnARealMachine) {
  const std::vector<int> cores{0, 1, 2, 3};
  const auto before = sample_core_use(cores);
  ASSERT_TRUE(before.has_value());
  EXPECT_GE(sample_core_use(cores)->busy_s, before->busy_s);
}

}  // namespace
}  // namespace chexbench::measure
