// The text of the file that the kernel timer writes when the measured process ends.
#pragma once

#include <string>

#include "kernel_time/kernel_tally.hpp"

namespace chexbench::measure {

// Returns one JSON object with demangled kernel names. See README.md in this folder for its keys. Pure, thread-safe.
std::string to_json(const KernelTimes& times);

}  // namespace chexbench::measure
