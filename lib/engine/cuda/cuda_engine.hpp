// The engine that trains on NVIDIA GPUs, with cuDNN for the convolutions. In a build without CUDA the functions exist
// too, and say so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

// Builds the engine that runs forward, backward and update on `config.gpu`, in f32 (strict), tf32, fp16 with dynamic
// loss scaling, or bf16. Gradients are in device memory, so the reducer must accept device memory. The first call
// loads CUDA and cuDNN.
// @throws DeviceError if this build has no CUDA, there is no such GPU, it lacks the precision, or the network does
// not fit into its memory
// @throws SpecError for an unknown network or images that are too small for it
std::unique_ptr<Engine> make_cuda_engine(const EngineConfig& config);

// Returns whether this build has the engine. Loads nothing.
bool has_cuda();

// How other tools name a GPU.
struct GpuIdentity {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string uuid;        // "GPU-...", as NVML writes it
  std::string pci_bus_id;  // "0000:17:00.0"
};

// Returns the GPUs that CUDA shows this process, in CUDA's order, which is the order that EngineConfig::gpu counts
// in. Loads CUDA.
// @throws DeviceError if this build has no CUDA, there is no driver or one that is too old, or there is no GPU
std::vector<GpuIdentity> visible_gpus();

}  // namespace chexbench::engine
