// Clocks. All durations in chexbench are seconds in double, taken from steady clocks.
#pragma once

namespace chexbench {

// Seconds of CLOCK_MONOTONIC since an arbitrary start that is the same for all processes of a host. Thread-safe.
double now_s();

// CPU seconds that the calling thread has used.
double thread_cpu_s();

// Sleeps until now_s() >= deadline_s; returns at once if that has passed. Absolute, so late wake-ups don't add up.
void sleep_until_s(double deadline_s);

// Wall and CPU time since construction, of the calling thread: what an op books as busy.
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
