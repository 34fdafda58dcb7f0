// The GPUs that an engine can compute on and that this process sees; needs no engine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

// A GPU's names in other tools.
struct GpuIdentity {
  std::string name;        // "NVIDIA H100 80GB HBM3"
  std::string uuid;        // "GPU-...", as in NVML
  std::string pci_bus_id;  // "0000:17:00.0"
};

// Returns the GPUs that CUDA shows this process, in CUDA's order, which is also that of EngineConfig::gpu. Loads CUDA.
// @throws DeviceError if this build has no CUDA, there is no driver or one that is too old, or there is no GPU
std::vector<GpuIdentity> visible_gpus();

// Forecast of the device memory that an engine will allocate; it needs no GPU.

// One line of the forecast.
struct DeviceMemoryLine {
  std::string what;  // Purpose of this part, in words.
  std::size_t bytes = 0;
};

// Splits the engine's single device allocation into parts. `name` must be resolved (resolve_engine_name()). The
// workspace of convolutions is not included, because its size is only known after they have been tuned. Returns an
// empty list for an engine that does not compute on a GPU.
// @throws SpecError if the network is unknown or the image size does not suit it
// @throws DeviceError if the engine cannot compute the network
std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config);

}  // namespace chexbench::engine
