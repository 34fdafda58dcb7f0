// The machine that a result came from.
#pragma once

#include <cstdint>
#include <string>

namespace chexbench::measure {

struct Machine {
  std::string host;
  std::string cpu;                 // as /proc/cpuinfo names it
  int cores = 0;                   // that this process may run on
  std::uint64_t memory_bytes = 0;  // of the machine, MemTotal
  std::string kernel;              // "Linux 6.1.0"
  std::string instruction_set;     // what kernels run with: baseline, avx2, avx512
};

// Takes milliseconds (topology): once a run. Thread-safe.
Machine probe_machine();

// The time now in UTC, ISO 8601: "2026-11-21T06:04:45Z".
std::string utc_now();

// Seconds since 1970 in UTC: a time of day, not for durations.
double unix_now_s();

}  // namespace chexbench::measure
