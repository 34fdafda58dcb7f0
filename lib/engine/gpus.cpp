#include "engine/gpus.hpp"

#include "engine/registry.hpp"

namespace chexbench::engine {

std::vector<DeviceMemoryLine> forecast_device_memory(const std::string& name, const EngineConfig& config) {
  const EngineKind* const kind = find_engine_kind(name);
  if (kind == nullptr || kind->forecast_device_memory == nullptr) return {};
  return kind->forecast_device_memory(config);
}

}  // namespace chexbench::engine
