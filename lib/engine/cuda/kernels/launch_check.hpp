// What the CUDA runtime returns, as errors, and what it tells of the device.
#pragma once

namespace chexbench::engine::cuda::kernels {

// Both @throws DeviceError: what was tried, CUDA's words, and for faults of the device what to do about them. `error`
// is a cudaError_t; it is forgotten, so that whoever survives it does not have the next launch blamed.
void check_cuda(int error, const char* what);
void check_launch(const char* what);

// Of the device that is current at the first call: a process has one.
int multiprocessors();

}  // namespace chexbench::engine::cuda::kernels
