// What a network's weights start from.
#pragma once

#include "model/tensor_info.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine {

// `spec.weights`: "random", or a safetensors file. Buffers that the file lacks start as those of a new network.
// @throws DataError for a file that cannot be read; the source itself throws as Safetensors::read()
model::WeightSource initial_weights(const spec::ModelSpec& spec);

}  // namespace chexbench::engine
