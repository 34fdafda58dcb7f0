// Checks whether an engine can compute a network, before anything is built.
#pragma once

#include <string>

#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// Checks the model for the engine of that (resolved) name. The engine's device is not needed. The engine `none` accepts
// everything, since it drops its batches.
// @throws SpecError if the network is unknown or the images are too small for it
// @throws DeviceError if the engine cannot compute one of the layers; the message names network, engine and layer
void check_network(const std::string& engine, const spec::ModelSpec& model);

}  // namespace chexbench::engine
