#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <regex>
#include <thread>
#include <vector>

#include "core/clock.hpp"
#include "fake_system.hpp"
#include "measure/machine.hpp"
#include "measure/process_sampler.hpp"

namespace chexbench::measure {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// Anonymous memory that has been written to, so that it is resident. It comes directly from the system, because a
// sanitizer's allocator would keep freed memory.
class Resident {
 public:
  explicit Resident(std::size_t bytes)
      : bytes_(bytes), memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ != MAP_FAILED) std::memset(memory_, 1, bytes);
  }
  ~Resident() { munmap(memory_, bytes_); }
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

 private:
  std::size_t bytes_;
  void* memory_;
};

double burn_cpu() {
  double sum = 0;
  for (int i = 0; i < 20'000'000; ++i) sum += std::sqrt(i);
  return sum;
}

TEST(ProcessSampler, SeesAnonymousMemoryGrow) {
  const std::uint64_t before_bytes = sample_process().anonymous_rss_bytes;
  ASSERT_GT(before_bytes, 0u);
  const Resident memory(64 * kMebibyte);
  const std::uint64_t after_bytes = sample_process().anonymous_rss_bytes;
  EXPECT_GE(after_bytes, before_bytes + 60 * kMebibyte);
}

TEST(ProcessSampler, PeakKeepsWhatWasFreed) {
  { const Resident memory(96 * kMebibyte); }
  const ProcessSample sample = sample_process();
  EXPECT_GE(sample.peak_rss_bytes, 96 * kMebibyte);
  EXPECT_GE(sample.peak_rss_bytes, sample.anonymous_rss_bytes);
}

TEST(ProcessSampler, PeakBeginsAnewAfterAReset) {
  { const Resident memory(96 * kMebibyte); }
  const std::uint64_t before_bytes = sample_process().peak_rss_bytes;
  if (!reset_peak_rss()) GTEST_SKIP() << "this system does not let a process reset its peak";
  EXPECT_LT(sample_process().peak_rss_bytes, before_bytes);
}

TEST(ProcessSampler, AgreesWithTheSystemOnCpuTime) {
  const double before_s = sample_process().cpu_s;
  EXPECT_GT(burn_cpu(), 0);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double after_s = sample_process().cpu_s;
  EXPECT_GT(after_s, before_s);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  EXPECT_NEAR(after_s, seconds(usage.ru_utime) + seconds(usage.ru_stime), 0.05);
}

TEST(ProcessSampler, CountsThreadsThatHaveEnded) {
  const double before_s = process_cpu_s();
  const double own_before_s = thread_cpu_s();
  double thread_s = 0;
  std::thread([&thread_s] {
    EXPECT_GT(burn_cpu(), 0);
    thread_s = thread_cpu_s();
  }).join();
  const double own_s = thread_cpu_s() - own_before_s;
  EXPECT_GE(process_cpu_s() - before_s, thread_s + own_s - 1e-3);
}

TEST(ProcessSampler, SeesThreadsThatWaitForACore) {
  cpu_set_t first{};
  CPU_SET(0, &first);
  const double before_s = process_cpu_wait_s();
  std::atomic<bool> stop = false;
  const auto spin = [&] {
    sched_setaffinity(0, sizeof(first), &first);
    while (!stop) {
    }
  };
  std::jthread one(spin), two(spin);
  while (process_cpu_wait_s() - before_s < 0.02) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  stop = true;
}

TEST(ProcessSampler, NeverCountsReadsBackwards) {
  const std::uint64_t before_bytes = sample_process().storage_read_bytes;
  EXPECT_GE(sample_process().storage_read_bytes, before_bytes);
}

TEST(ProcessSampler, LeavesNoFileOpen) {
  const auto lowest_free = [] {
    const int descriptor = dup(STDERR_FILENO);
    close(descriptor);
    return descriptor;
  };
  const int before = lowest_free();
  for (int i = 0; i < 10; ++i) sample_process();
  reset_peak_rss();
  EXPECT_EQ(lowest_free(), before);
}

TEST(ProcessStart, LiesInThePastAndStaysWhereItIs) {
  const double start_s = process_start_s();
  EXPECT_LT(start_s, now_s());
  EXPECT_NEAR(process_start_s(), start_s, 0.02);
  // The process cannot have used more CPU time than has passed since its start, whose resolution is 10 ms.
  EXPECT_GE(now_s() - start_s + 0.02, thread_cpu_s());
}

TEST(ProcessStart, IsTheTwentySecondFieldWhateverTheProgramIsCalled) {
  const std::string fields = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4200 20 21";
  const double tick_s = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  EXPECT_DOUBLE_EQ(start_since_boot_s("17 (plain)" + fields), 4200 * tick_s);
  EXPECT_DOUBLE_EQ(start_since_boot_s("17 (odd ) name (x)" + fields), 4200 * tick_s);
}

// The text is empty if no more files may be opened.
TEST(ProcessStart, IsUnknownWhereTheKernelTellsNothing) {
  EXPECT_TRUE(std::isnan(start_since_boot_s("")));
  EXPECT_TRUE(std::isnan(start_since_boot_s("17 (torn) S 1 2")));
}

TEST(Machine, IsDescribed) {
  const Machine machine = probe_machine();
  utsname system{};
  uname(&system);
  EXPECT_EQ(machine.host, system.nodename);
  EXPECT_EQ(machine.kernel, std::string("Linux ") + system.release);
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_LE(machine.cores, static_cast<int>(std::thread::hardware_concurrency()));
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(machine.memory_bytes, pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

TEST(UtcNow, IsIso8601) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ)")));
}

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
