// Programmatic dependent launch: a kernel's blocks take their places on the device while the kernel before it still
// runs, and wait there until that one is done, so that the time from one kernel to the next is that of a wake-up and
// not that of a launch.
#pragma once

namespace chexbench::engine::cuda::kernels {

inline constexpr char kProgrammaticLaunchVariable[] = "CHEXBENCH_PROGRAMMATIC_LAUNCH";

// Returns whether kernels are launched so on devices of that compute capability (90: 9.0), if the environment variable
// above has that value; null stands for none. Only devices from 9.0 on can. `on`, the default, and `off` give the same
// results.
// @throws SpecError for any other value
bool launches_programmatically(int compute_capability, const char* value);

}  // namespace chexbench::engine::cuda::kernels
