// Whether an engine computes a network, before anything is built.
#pragma once

#include <string>

#include "spec/experiment.hpp"

namespace chexbench::engine {

// For an engine of that (resolved) name; works without its device. @throws SpecError for an unknown network or images
// that are too small for it, DeviceError naming network, engine and layer where the engine lacks it
void check_network(const std::string& engine, const spec::ModelSpec& model);

}  // namespace chexbench::engine
