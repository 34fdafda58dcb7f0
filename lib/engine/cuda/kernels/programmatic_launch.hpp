// Programmatic dependent launch: a kernel's blocks are placed on the device while the previous kernel still runs, and
// wait there until it is done, so that the gap between kernels is a wake-up instead of a launch.
#pragma once

namespace chexbench::engine::cuda::kernels {

inline constexpr char kProgrammaticLaunchVariable[] = "CHEXBENCH_PROGRAMMATIC_LAUNCH";

// Returns whether kernels are launched this way on devices of that compute capability (90: 9.0), given the value of the
// environment variable above, or null for none. Only devices from 9.0 on can. `on`, the default, and `off` give the
// same results.
// @throws SpecError for any other value
bool launches_programmatically(int compute_capability, const char* value);

}  // namespace chexbench::engine::cuda::kernels
