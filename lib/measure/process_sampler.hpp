// What this process costs the machine (memory, CPU time, bytes read from storage), and how much other processes use its
// cores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "measure/system_files.hpp"

namespace chexbench::measure {

// One sample, from /proc/self/status and /proc/self/io. A value is 0 if the kernel does not report it.
struct ProcessSample {
  // RssAnon: resident memory that is not backed by a file. Reading smaps_rollup instead would walk all page tables.
  std::uint64_t anonymous_rss_bytes = 0;
  std::uint64_t peak_rss_bytes = 0;      // VmHWM: largest resident set since the start or reset_peak_rss()
  std::uint64_t storage_read_bytes = 0;  // read_bytes: fetched from storage, without page cache hits
  double cpu_s = 0;                      // user and system time of all threads, including ended ones
};

// Takes a sample. It keeps no file open and costs less than 50 us, which is cheap enough for once per step.
// Thread-safe.
ProcessSample sample_process();

// Returns the CPU seconds of all threads by a single system call, without reading /proc. Thread-safe.
double process_cpu_s();

// Returns the seconds that threads were ready to run but had no core, summed over all live threads since each of them
// began (from their schedstat files). When a thread ends, its time leaves the sum, so a difference of two calls may
// be too small or even negative. Returns 0 if the kernel does not report it.
double process_cpu_wait_s();

// Restarts peak_rss_bytes at the present resident set (clear_refs, Linux 4.0). Returns false if the system refuses;
// the peak then continues to count from the start of the process.
bool reset_peak_rss();

// Returns the start of this process (its exec or fork) on the clock of now_s() in core/clock.hpp, with the kernel's
// resolution of 10 ms. The time before main, in which libraries are loaded, is thus included. Returns NaN if /proc
// does not report it (not mounted, or no file descriptor left). Thread-safe.
double process_start_s();

// Returns the seconds from boot to the process start in a line of /proc/PID/stat, NaN if the line has no start time.
double start_since_boot_s(const std::string& stat);

// The use of some cores by all processes of the machine: time that this process did not use itself was taken from it.
// Counters since the machine or the cgroup started, in seconds. Only differences mean something.
struct CoreUse {
  double busy_s = 0;          // of the cores, by all processes and the kernel (/proc/stat without idle, iowait, steal)
  double steal_s = 0;         // of the cores, in which a hypervisor ran something else
  double throttled_s = 0;     // of all cores, in which the CPU limit of this process's cgroup stopped them
  double memory_stall_s = 0;  // in which threads of the machine waited for memory to be reclaimed (PSI, "some")
};

// Samples the counters of `cores`, which are numbers as the kernel gives them. The first two count in ticks of 10 ms;
// the last two are 0 if the kernel does not report them. Returns std::nullopt without /proc/stat. Thread-safe.
std::optional<CoreUse> sample_core_use(std::span<const int> cores, const SystemRoots& roots = {});

}  // namespace chexbench::measure
