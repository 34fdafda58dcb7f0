// What CUDA says to a launch, and about the device.
#pragma once

namespace chexbench::engine::cuda::kernels {

// Both @throws DeviceError that names what was tried. `error` is a cudaError_t.
void check_cuda(int error, const char* what);
void check_launch(const char* what);

// Of the device that is current at the first call: a process has one.
int multiprocessors();

}  // namespace chexbench::engine::cuda::kernels
