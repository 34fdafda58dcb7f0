// Tests reading the kernel's files about CPUs, memory and the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_system.hpp"
#include "measure/machine.hpp"
#include "measure/memory_state.hpp"
#include "measure/network.hpp"

namespace chexbench::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CpuList, IsReadAndWritten) {
  EXPECT_THAT(parse_cpu_list("0-2,5,7-8"), ElementsAre(0, 1, 2, 5, 7, 8));
  EXPECT_EQ(cpu_list_text({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(cpu_list_text({}), "");
}

TEST(CpuList, OfADamagedOneWhatCanBeReadIsTaken) {
  EXPECT_THAT(parse_cpu_list("x,1-,3,-4,5-y,8-9999999999,7"), ElementsAre(3, 7));
  EXPECT_THAT(parse_cpu_list("0-2000000000"), IsEmpty());
  for (const char* text : {"", "x", "3-", "5-2", "-1"}) EXPECT_THAT(parse_cpu_list(text), IsEmpty()) << text;
}

void write_cpu(FakeSystem& system, int cpu, int socket, int core, const std::string& governor) {
  const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
  system.write(folder + "/topology/physical_package_id", std::to_string(socket) + "\n");
  system.write(folder + "/topology/core_id", std::to_string(core) + "\n");
  system.write(folder + "/cpufreq/scaling_governor", governor + "\n");
}

TEST(CpuLayout, CountsSocketsCoresThreadsAndNodes) {
  FakeSystem system;
  system.write("sys/devices/system/cpu/online", "0-3,5\n");  // CPU 4 is offline
  write_cpu(system, 0, 0, 0, "powersave");
  write_cpu(system, 1, 0, 1, "powersave");
  write_cpu(system, 2, 1, 0, "performance");  // core ids repeat on each socket
  write_cpu(system, 3, 0, 0, "powersave");    // the other thread of CPU 0's core
  write_cpu(system, 4, 7, 7, "powersave");
  write_cpu(system, 5, 1, 0, "performance");
  system.write("sys/devices/system/node/online", "0-2\n");
  system.write("sys/devices/system/node/node0/cpulist", "0-1,3\n");
  system.write("sys/devices/system/node/node1/cpulist", "2,5\n");
  system.write("sys/devices/system/node/node2/cpulist", "\n");  // a node with memory but without CPUs
  system.write("proc/loadavg", "3.25 2.00 1.00 2/345 6789\n");
  const CpuLayout layout = probe_cpu_layout(system.roots());
  EXPECT_EQ(layout.sockets, 2);
  EXPECT_EQ(layout.physical_cores, 3);
  EXPECT_EQ(layout.hardware_threads, 5);
  EXPECT_THAT(layout.numa_nodes, ElementsAre(ElementsAre(0, 1, 3), ElementsAre(2, 5)));
  EXPECT_THAT(layout.governors, ElementsAre(Pair("performance", 2), Pair("powersave", 3)));
  EXPECT_EQ(layout.load, 3.25);
}

TEST(CpuLayout, IsEmptyWhereTheKernelTellsNothing) {
  const FakeSystem system;
  const CpuLayout layout = probe_cpu_layout(system.roots());
  EXPECT_EQ(layout.sockets + layout.physical_cores + layout.hardware_threads, 0);
  EXPECT_THAT(layout.numa_nodes, IsEmpty());
  EXPECT_FALSE(layout.load.has_value());
}

TEST(CpuLayout, HasTheSwitchesOfTheCpus) {
  FakeSystem system;
  EXPECT_EQ(probe_cpu_layout(system.roots()).turbo + probe_cpu_layout(system.roots()).mitigations, "");
  const std::string cpus = "sys/devices/system/cpu/";
  system.write(cpus + "cpufreq/boost", "1\n");
  system.write(cpus + "smt/control", "forceoff\n");
  system.write(cpus + "vulnerabilities/spectre_v2", "Mitigation: Retpolines; STIBP: disabled\n");
  EXPECT_EQ(probe_cpu_layout(system.roots()).turbo, "on");
  EXPECT_EQ(probe_cpu_layout(system.roots()).smt, "forceoff");
  EXPECT_EQ(probe_cpu_layout(system.roots()).mitigations, "on");
  system.write(cpus + "intel_pstate/no_turbo", "1\n");
  system.write(cpus + "vulnerabilities/meltdown", "Vulnerable\n");
  system.write(cpus + "vulnerabilities/mds", "Vulnerable: Clear CPU buffers attempted, no microcode\n");
  EXPECT_EQ(probe_cpu_layout(system.roots()).turbo, "off");
  EXPECT_EQ(probe_cpu_layout(system.roots()).mitigations, "off for mds, meltdown");
}

// An adapter at `path` with a driver.
void write_adapter(const FakeSystem& system, const std::string& path, const std::string& driver) {
  std::filesystem::create_directories(system.folder() / path / "device");
  std::filesystem::create_symlink("/drivers/" + driver, system.folder() / path / "device/driver");
}

TEST(Network, IsTheHardwareWithItsLinks) {
  FakeSystem system;
  const auto write = [&](const std::string& file, const std::string& text) { system.write("sys/class/" + file, text); };
  EXPECT_THAT(find_network_interfaces(system.roots()), IsEmpty());
  for (const char* name : {"lo", "docker0", "veth1", "bond0"}) write("net/" + std::string(name) + "/type", "1\n");
  for (const char* name : {"eth1", "eth0", "ib0"})
    write_adapter(system, "sys/class/net/" + std::string(name), "mlx5_core");
  write("net/eth0/type", "1\n");
  write("net/eth0/speed", "2500\n");
  write("net/eth1/type", "1\n");
  write("net/eth1/speed", "-1\n");
  write("net/ib0/type", "32\n");
  write_adapter(system, "sys/class/infiniband/mlx5_0", "mlx5_core");
  for (const auto& [port, state] :
       {std::pair("1", "4: ACTIVE"), std::pair("2", "1: DOWN"), std::pair("3", "4: ACTIVE")}) {
    const std::string folder = "infiniband/mlx5_0/ports/" + std::string(port);
    write(folder + "/link_layer", *port == '3' ? "Ethernet\n" : "InfiniBand\n");
    write(folder + "/state", std::string(state) + "\n");
    write(folder + "/rate", "200 Gb/sec (4X HDR)\n");
  }
  EXPECT_EQ(to_string(find_network_interfaces(system.roots())),
            "mlx5_0/1 (InfiniBand, 200 Gb/s, mlx5_core), mlx5_0/2 (InfiniBand, mlx5_core), "
            "eth0 (Ethernet, 2.5 Gb/s, mlx5_core), eth1 (Ethernet, mlx5_core)");
}

TEST(CpuLayout, OfThisMachineHasCpus) { EXPECT_GE(probe_cpu_layout().hardware_threads, 1); }

TEST(MemoryState, IsReadInBytes) {
  FakeSystem system;
  system.write("proc/meminfo",
               "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1500 kB\nCached:          700 kB\n");
  system.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  const MemoryState memory = probe_memory(system.roots());
  EXPECT_EQ(memory.total_bytes, 2000u * 1024);
  EXPECT_EQ(memory.available_bytes, 1500u * 1024);
  EXPECT_EQ(memory.page_cache_bytes, 700u * 1024);
  EXPECT_EQ(memory.transparent_huge_pages, "madvise");
}

TEST(MemoryState, IsEmptyWhereTheKernelTellsNothing) {
  const FakeSystem system;
  EXPECT_EQ(probe_memory(system.roots()).total_bytes, 0u);
  EXPECT_EQ(probe_memory(system.roots()).transparent_huge_pages, "");
}

TEST(SharedMemory, IsThatOfTheFolder) {
  FakeSystem system;
  EXPECT_FALSE(probe_shared_memory(system.roots()).exists);
  system.write("dev/shm/segment", "");
  const SharedMemory memory = probe_shared_memory(system.roots());
  EXPECT_TRUE(memory.exists);
  const std::filesystem::space_info space = std::filesystem::space(system.folder());
  EXPECT_EQ(memory.total_bytes, space.capacity);
  EXPECT_LE(memory.free_bytes, memory.total_bytes);
  EXPECT_EQ(memory.problem, "");
}

TEST(SharedMemory, OfRanksGrowsByTheSameForEach) {
  EXPECT_EQ(shared_bytes_of(3) - shared_bytes_of(2), shared_bytes_of(16) - shared_bytes_of(15));
  EXPECT_LT(shared_bytes_of(15), 64u << 20);  // docker's default for a container
  EXPECT_GT(shared_bytes_of(16), 64u << 20);
}

}  // namespace
}  // namespace chexbench::measure
