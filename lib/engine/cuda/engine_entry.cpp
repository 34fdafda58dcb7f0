// The symbols of the engine and of kernel-sweep that cuda_module.cpp looks up in the module.
#include "engine/cuda/cuda_engine.hpp"
#include "engine/cuda/sweep/kernel_sweep.hpp"
#include "engine/cuda/training/trainer.hpp"
#include "engine/registry.hpp"

extern "C" chexbench::engine::Engine* chexbench_make_cuda_engine(const chexbench::engine::EngineConfig& config) {
  return new chexbench::engine::cuda::CudaEngine(config);
}

extern "C" void chexbench_visible_gpus(std::vector<chexbench::engine::GpuIdentity>& gpus) {
  for (const auto& device : chexbench::engine::cuda::visible_devices())
    gpus.push_back({device.name, device.uuid, device.pci_bus_id});
}

extern "C" bool chexbench_sweep_kernels(const chexbench::engine::KernelSweepOptions& options,
                                        const std::function<void(const chexbench::engine::KernelTiming&)>& on_timing) {
  return chexbench::engine::cuda::sweep_kernels(options, on_timing);
}
