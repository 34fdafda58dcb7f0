// Measures the speed of a large matrix product on the engine's threads, as a yardstick for the speed of training.
#pragma once

#include "engine/onednn/device.hpp"

namespace chexbench::engine::onednn {

// Returns the GFLOP/s of the fastest of six products of 2048 x 2048 matrices of the device's type, computed by oneDNN
// on the threads of parallel.hpp. Takes about a second.
double matmul_gflops(const Device& device);

}  // namespace chexbench::engine::onednn
