#include "core/clock.hpp"

#include <cerrno>
#include <cmath>

namespace chexbench {

double clock_s(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double now_s() { return clock_s(CLOCK_MONOTONIC); }

double thread_cpu_s() { return clock_s(CLOCK_THREAD_CPUTIME_ID); }

void sleep_until_s(double deadline_s) {
  const double whole_s = std::floor(deadline_s);
  timespec deadline{};
  deadline.tv_sec = static_cast<time_t>(whole_s);
  deadline.tv_nsec = static_cast<long>((deadline_s - whole_s) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr) == EINTR) {
  }
}

}  // namespace chexbench
