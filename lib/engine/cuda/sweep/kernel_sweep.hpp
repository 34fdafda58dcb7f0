// The sweep over the kernels, which the module exports.
#pragma once

#include "engine/cuda/sweep/kernel_list.hpp"
#include "engine/sweeps.hpp"

namespace chexbench::engine::cuda {

// Returns the calls to measure for one network: of the named kernels or all, first those that move the most bytes a
// step.
// @throws SpecError for an unknown network or kernel, DeviceError for a network that the engine cannot compute
std::vector<KernelUse> kernels_to_sweep(const KernelSweepOptions& options, const std::string& network);

// engine::sweep_kernels() on the current device.
bool sweep_kernels(const KernelSweepOptions& options, const std::function<void(const KernelTiming&)>& on_timing);

}  // namespace chexbench::engine::cuda
