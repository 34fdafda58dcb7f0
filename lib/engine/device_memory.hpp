// What a GPU will be asked to hold, before there is one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

struct DeviceMemoryLine {
  std::string what;  // it is for
  std::size_t bytes = 0;
};

// The one allocation of the engine of that name (resolved) in parts, but for the workspace of convolutions, which is
// known when they have been tuned; empty for engines that compute on no GPU. Needs no GPU.
// @throws SpecError for a wrong model, DeviceError for one that the engine cannot compute
std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config);

}  // namespace chexbench::engine
