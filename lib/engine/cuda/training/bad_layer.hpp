// Finds the layer from which an infinite or NaN loss comes.
#pragma once

#include <string>

#include "engine/cuda/training/network.hpp"

namespace chexbench::engine::cuda {

// Runs forward once more over the input and the weights that are on the device, and checks the output of every layer.
// This works after the step, because a step with such a loss skips its update and so keeps the weights. Returns a
// sentence without its full stop, e.g. "layer1.0.conv2 is the first layer whose output is not finite". Takes seconds.
// Overwrites activations, gradients and the step's scalars, so training cannot continue afterwards.
// @throws DeviceError if the device fails
std::string first_bad_layer(const Addresses& addresses, Network& network, Stream stream);

}  // namespace chexbench::engine::cuda
