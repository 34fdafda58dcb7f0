// Finds the time at which this process started.
#pragma once

#include <string>

namespace chexbench::measure {

// Returns the start of this process (its exec or fork) on the clock of now_s() in core/clock.hpp, with the kernel's
// resolution of 10 ms. The time before main, in which libraries are loaded, is thus included. Returns NaN if /proc
// does not report it (not mounted, or no file descriptor left). Thread-safe.
double process_start_s();

// Returns the seconds from boot to the process start in a line of /proc/PID/stat, NaN if the line has no start time.
double start_since_boot_s(const std::string& stat);

}  // namespace chexbench::measure
