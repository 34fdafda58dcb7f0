// When this process began.
#pragma once

#include <string>

namespace chexbench::measure {

// The start of this process (its exec or fork) on the clock of core/clock.hpp's now_s(), in the kernel's resolution
// of 10 ms. Includes what happens before main: loading libraries. NaN where /proc does not tell (no mount, no file
// descriptor left). Thread-safe.
double process_start_s();

// Seconds from boot to the start that a line of /proc/PID/stat tells, NaN where it tells none.
double start_since_boot_s(const std::string& stat);

}  // namespace chexbench::measure
