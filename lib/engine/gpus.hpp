// The GPUs that an engine can compute on, without an engine: which ones this process sees.
#pragma once

#include <string>
#include <vector>

namespace chexbench::engine {

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
