// The engine that trains on NVIDIA GPUs, with cuDNN for the convolutions. In a build without CUDA the functions exist
// too, and report that. So do those of registry.hpp and sweeps.hpp, from the same module.
#pragma once

#include <memory>

#include "engine/engine.hpp"

namespace chexbench::engine::cuda {

// Builds the engine that runs forward, backward and update on `config.gpu`, in f32 (strict), tf32, fp16 with dynamic
// loss scaling, or bf16. Gradients are in device memory, so the reducer must accept device memory. The first call
// loads CUDA and cuDNN.
// @throws DeviceError if this build has no CUDA, there is no such GPU, it lacks the precision, or the network does
// not fit into its memory
// @throws SpecError for an unknown network or images that are too small for it
std::unique_ptr<Engine> make_cuda_engine(const EngineConfig& config);

// Returns whether this build has the engine. Loads nothing.
bool has_cuda();

// This engine's entry in the registry.
const EngineKind& kind();

}  // namespace chexbench::engine::cuda
