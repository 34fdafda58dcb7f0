// Runs calls: on the device with the launchers, and on the host with the functions of the kernels' headers.
#pragma once

#include "engine/cuda/sweep/kernel_call.hpp"
#include "engine/cuda/sweep/kernel_memory.hpp"

namespace chexbench::engine::cuda {

// Queues the call on the stream. `memory` is device memory; `scratch` is reduction_scratch_bytes() of it.
// @throws DeviceError if CUDA refuses the launch
void launch_kernel(const KernelCall& call, const KernelMemory& memory, void* scratch, kernels::Stream stream);

// Computes the call on the host, element by element, with sums in double over blocks of rows. `memory` is host memory
// whose half types are those of core/half.hpp.
void run_on_host(const KernelCall& call, const KernelMemory& memory);

}  // namespace chexbench::engine::cuda
