// Which layer a loss that is infinite or NaN comes from.
#pragma once

#include <string>

#include "engine/cuda/network.hpp"

namespace chexbench::engine::cuda {

// Runs forward once more over the input and the weights as they are (a step of such a loss changes none: its update is
// left out), and looks at every layer's output. In words: "layer1.0.conv2 is the first layer whose output is not
// finite". Seconds; spoils activations and gradients.
std::string first_bad_layer(const Addresses& addresses, Network& network, Stream stream);

}  // namespace chexbench::engine::cuda
