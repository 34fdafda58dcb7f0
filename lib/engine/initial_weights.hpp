// What a network's weights start from.
#pragma once

#include <string>
#include <vector>

#include "model/tensor_info.hpp"
#include "spec/experiment.hpp"

namespace chexbench::engine {

struct InitialWeights {
  model::WeightSource source;
  std::vector<std::string> notes;  // what a reader of the results must know
};

// `spec.weights`: "random", or a safetensors file. Buffers that the file lacks start as those of a new network, and so
// does the last layer where the file's has another number of outputs than `outputs`, with a note (logged, too).
// @throws DataError for a file that cannot be read; the source itself throws as Safetensors::read()
InitialWeights initial_weights(const spec::ModelSpec& spec, int outputs);

}  // namespace chexbench::engine
