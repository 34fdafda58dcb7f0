// Converts return values of the CUDA runtime to errors, and reports the properties of the device that launches use.
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

// Programmatic dependent launch: a kernel's blocks are placed on the device while the previous kernel still runs, and
// wait there until it is done, so that the gap between kernels is a wake-up instead of a launch.
// Kernels of cuDNN and cuBLASLt run after all earlier work, unless they request an early start themselves and then wait
// like ours.
inline constexpr char kProgrammaticLaunchVariable[] = "CHEXBENCH_PROGRAMMATIC_LAUNCH";

// Returns whether kernels are launched this way on the device of multiprocessors(). Thread-safe.
// @throws DeviceError if CUDA fails, SpecError for an unknown value of the environment variable
bool launches_programmatically();
// The same for devices of that compute capability (90: 9.0), given the value of the environment variable above, or null
// for none. Only devices from 9.0 on can. `on`, the default, and `off` give the same results.
// @throws SpecError for any other value
bool launches_programmatically(int compute_capability, const char* value);

}  // namespace chexbench::engine::cuda::kernels
