// Forecast of the device memory that an engine will allocate; it needs no GPU.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

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
