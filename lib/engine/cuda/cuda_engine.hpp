// The engine that trains on NVIDIA's GPUs, with cuDNN's convolutions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

// Forward, backward and update on `config.gpu`. f32 (strict), tf32, fp16 with dynamic loss scaling, bf16. Gradients lie
// in device memory: the reducer must take those. Loads CUDA and cuDNN at the first call.
// @throws DeviceError where this build has no CUDA, there is no such GPU, it lacks the precision, or the network does
// not fit its memory; SpecError for a wrong model
std::unique_ptr<Engine> make_cuda_engine(const EngineConfig& config);

// Whether this build has it.
bool has_cuda();

struct GpuIdentity {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string uuid;        // "GPU-...", as NVML writes it
  std::string pci_bus_id;  // "0000:17:00.0"
};

// Those that CUDA shows this process, in its order: EngineConfig::gpu counts them. Loads CUDA.
// @throws DeviceError: no CUDA in this build, no driver, one that is too old, or no GPU
std::vector<GpuIdentity> visible_gpus();

}  // namespace chexbench::engine
