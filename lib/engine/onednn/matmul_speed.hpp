// What a large matrix product reaches on the engine's threads: the yardstick for the speed of training.
#pragma once

#include "engine/onednn/device.hpp"

namespace chexbench::engine {

// GFLOP/s of the best of several products of square matrices in the device's type, on the threads of parallel.hpp.
// Takes about a second.
double matmul_gflops(const Device& device);

}  // namespace chexbench::engine
