// Launchers that only note the calls that they get.
#pragma once

#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {

// The launches so far, in their order.
std::vector<KernelCall>& noted_launches();

}  // namespace chexbench::engine::cuda
