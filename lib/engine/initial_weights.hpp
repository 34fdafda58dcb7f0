// The initial weights of a training.
#pragma once

#include <string>
#include <vector>

#include "model/graph.hpp"
#include "model/weights.hpp"
#include "spec/safetensors.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::engine {

// A source of parameters and buffers. The source may be called from any thread.
struct InitialWeights {
  model::WeightSource source;
  std::vector<std::string> notes;  // Remarks for every report.
};

// Returns the file with the names of the network's parameters, without the file's prefix or wrapper.
// @throws DataError as spec::Safetensors::named_as()
spec::Safetensors named_as(const spec::Safetensors& file, const model::Graph& network);

// Returns the file's name for a parameter of the network that was validated: "ema.NAME" in a checkpoint of a training
// with a moving average of the weights (training.ema_decay), else the parameter's own.
std::string name_in(const spec::Safetensors& file, const std::string& parameter);

// Returns the weights that `spec.weights` names: "random" (seeded by spec.seed), or the path of a safetensors file. If
// the file's last layer has another number of outputs than `outputs`, that layer starts from random weights; if the
// file lacks running statistics, they start as those of a new network. A note, which is also logged, reports either.
// Another note names the trained layer if the base is frozen.
// @throws SpecError if the network is unknown
// @throws DataError if the file cannot be read, or lacks running statistics that frozen batch norms would use; the
// returned source throws DataError if a tensor is missing or has another shape or type (Safetensors::read())
InitialWeights initial_weights(const spec::ModelSpec& spec, int outputs);

}  // namespace chexbench::engine
