// What the CUDA runtime returns, as errors. For the files that include the runtime.
#pragma once

#include <cuda_runtime_api.h>

namespace chexbench::engine::cuda {

// @throws DeviceError: what was tried, CUDA's words, and for faults of the device what to do about them
void check(cudaError_t error, const char* what);

}  // namespace chexbench::engine::cuda
