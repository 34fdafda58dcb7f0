// The file that the kernel timer leaves behind.
#pragma once

#include <string>

#include "measure/kernel_time/kernel_tally.hpp"

namespace chexbench::measure {

// One JSON object, names of kernels demangled; its keys are listed in README.md beside this file. Pure, thread-safe.
std::string to_json(const KernelTimes& times);

}  // namespace chexbench::measure
