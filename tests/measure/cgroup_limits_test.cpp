#include "measure/cgroup_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.hpp"

namespace chexbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CgroupLimits, OfVersion2AreTheStrictestOnTheWayUp) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/job/step\n");
  system.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
  system.write("sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/job/memory.max", "4000\n");
  system.write("sys/fs/cgroup/job/memory.current", "3000\n");
  system.write("sys/fs/cgroup/job/step/memory.max", "8000\n");
  system.write("sys/fs/cgroup/job/step/memory.current", "1000\n");
  system.write("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n");
  system.write("sys/fs/cgroup/job/step/cpuset.cpus.effective", "2-3\n");
  const CgroupLimits limits = probe_cgroup_limits(system.roots());
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 4000u);
  EXPECT_EQ(limits.memory_used_bytes, 3000u);
  EXPECT_THAT(limits.cpuset, ElementsAre(2, 3));
}

TEST(CgroupLimits, OfVersion1AreReadFromEachController) {
  FakeSystem system;
  system.write("proc/self/cgroup", "4:cpuset:/a\n3:cpu,cpuacct:/a\n2:memory:/a\n1:name=systemd:/a\n");
  system.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  system.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  system.write("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000\n");
  system.write("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "600\n");
  system.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  system.write("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "1\n");
  const CgroupLimits limits = probe_cgroup_limits(system.roots());
  EXPECT_EQ(limits.cpus, 0.5);
  EXPECT_EQ(limits.memory_bytes, 5000u);
  EXPECT_EQ(limits.memory_used_bytes, 600u);
  EXPECT_THAT(limits.cpuset, ElementsAre(1));
}

// A container that does not see its path in the host's hierarchy finds its limits at the root.
TEST(CgroupLimits, AreFoundAtTheRootWhereThePathIsTheHosts) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/../../docker/abc\n");
  system.write("sys/fs/cgroup/memory.max", "7000\n");
  EXPECT_EQ(probe_cgroup_limits(system.roots()).memory_bytes, 7000u);
}

TEST(CgroupLimits, AreEmptyWhereNothingLimits) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/\n1:cpu:/\nnonsense\n");
  system.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  system.write("sys/fs/cgroup/memory.max", "max\n");
  system.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  system.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  const CgroupLimits limits = probe_cgroup_limits(system.roots());
  EXPECT_FALSE(limits.cpus.has_value());
  EXPECT_FALSE(limits.memory_bytes.has_value());
  EXPECT_FALSE(limits.memory_used_bytes.has_value());
  EXPECT_THAT(limits.cpuset, IsEmpty());
}

}  // namespace
}  // namespace chexbench::measure
