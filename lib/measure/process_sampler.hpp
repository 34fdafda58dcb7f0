// What this process costs the machine: memory, CPU time, and bytes read from storage.
#pragma once

#include <cstdint>

namespace chexbench::measure {

// One sample, from /proc/self/status and /proc/self/io. A value is 0 if the kernel does not report it.
struct ProcessSample {
  std::uint64_t anonymous_rss_bytes = 0;  // RssAnon: resident memory that is not backed by a file
  std::uint64_t peak_rss_bytes = 0;       // VmHWM: largest resident set since the start or reset_peak_rss()
  std::uint64_t storage_read_bytes = 0;   // read_bytes: fetched from storage, without page cache hits
  double cpu_s = 0;                       // user and system time of all threads, including ended ones
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

}  // namespace chexbench::measure
