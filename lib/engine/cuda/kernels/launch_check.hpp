// Converts return values of the CUDA runtime to errors, and reports properties of the device.
#pragma once

namespace chexbench::engine::cuda::kernels {

// Throws if `error`, a cudaError_t, is not cudaSuccess. `what` names the attempted operation. The runtime's stored
// error is cleared, so that a caller who handles the error does not see it again at the next launch. check_launch()
// does the same for the last kernel launch; `what` names the kernel.
// @throws DeviceError with `what`, CUDA's message and, for faults of the device, advice; DeviceLostError if CUDA will
// report the error from every later call, too
void check_cuda(int error, const char* what);
void check_launch(const char* what);

// Returns the number of multiprocessors of the device that is current at the first call; a process uses one device.
// Thread-safe.
// @throws DeviceError if CUDA fails
int multiprocessors();

// Returns whether kernels are launched on that device while the previous one still runs (programmatic_launch.hpp).
// Thread-safe.
// @throws DeviceError if CUDA fails, SpecError for an unknown value of the environment variable
bool launches_programmatically();

}  // namespace chexbench::engine::cuda::kernels
