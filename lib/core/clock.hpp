// Reads the clocks that all measurements use. Every duration in chexbench is in seconds, as a double, from a clock that
// never jumps.
#pragma once

#include <ctime>

namespace chexbench {

// Returns the seconds of CLOCK_MONOTONIC since an arbitrary start that is the same for all processes of a host, so that
// times of its ranks can be compared. Thread-safe and async-signal-safe.
double now_s();

// Returns the CPU seconds that the calling thread has used so far.
double thread_cpu_s();

// Returns the seconds of another clock of the system, such as CLOCK_BOOTTIME.
double clock_s(clockid_t clock);

// Sleeps until now_s() >= deadline_s, and returns at once if that time is past. The deadline is absolute, so the delays
// of late wake-ups do not add up over many calls. Signals do not end the sleep.
void sleep_until_s(double deadline_s);

// Measures wall time and the calling thread's CPU time since construction; ops report both as their busy time. cpu_s()
// is meaningful only on the thread that made the stopwatch.
class Stopwatch {
 public:
  Stopwatch() : wall_start_s_(now_s()), cpu_start_s_(thread_cpu_s()) {}
  double wall_s() const { return now_s() - wall_start_s_; }
  double cpu_s() const { return thread_cpu_s() - cpu_start_s_; }

 private:
  double wall_start_s_;
  double cpu_start_s_;
};

}  // namespace chexbench
