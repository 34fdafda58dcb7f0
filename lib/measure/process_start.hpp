// When this process began.
#pragma once

namespace chexbench::measure {

// The start of this process (its exec or fork) on the clock of core/clock.hpp's now_s(), in the kernel's resolution
// of 10 ms. Includes what happens before main: loading libraries. NaN where /proc does not tell (no mount, no file
// descriptor left). Thread-safe.
double process_start_s();

}  // namespace chexbench::measure
