// The symbol of kernel-sweep that cuda_module.cpp looks up in the module.
#include "engine/cuda/sweep/kernel_sweep.hpp"

extern "C" bool chexbench_sweep_kernels(const chexbench::engine::KernelSweepOptions& options,
                                        const std::function<void(const chexbench::engine::KernelTiming&)>& on_timing) {
  return chexbench::engine::cuda::sweep_kernels(options, on_timing);
}
