// What this process costs the machine: memory, CPU time, bytes read from storage.
#pragma once

#include <cstdint>

namespace chexbench::measure {

// From /proc/self/status and /proc/self/io; a value that the kernel does not tell is 0.
struct ProcessSample {
  std::uint64_t anonymous_rss_bytes = 0;  // RssAnon: resident memory that is not backed by a file
  std::uint64_t peak_rss_bytes = 0;       // VmHWM: largest resident set since the start or reset_peak_rss()
  std::uint64_t storage_read_bytes = 0;   // read_bytes: fetched from storage, page cache hits left out
  double cpu_s = 0;                       // user and system time of all threads, those that ended included
};

// Holds no file open and costs under 50 us, cheap enough for once a step. Thread-safe.
ProcessSample sample_process();

// CPU seconds of all threads, without a look at /proc: a system call.
double process_cpu_s();

// Seconds that threads were ready to run and had no core, since each began: summed over the threads that live now
// (their schedstat). A thread that ended takes its time along, so a difference may be too small, or below 0. 0 where
// the kernel does not tell.
double process_cpu_wait_s();

// Lets peak_rss_bytes begin anew at the present resident set (clear_refs, Linux 4.0). False where the system refuses:
// then the peak goes on counting from the start of the process.
bool reset_peak_rss();

}  // namespace chexbench::measure
