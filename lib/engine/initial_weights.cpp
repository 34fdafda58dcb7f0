#include "engine/initial_weights.hpp"

#include "model/networks.hpp"
#include "model/weights.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::engine {

model::WeightSource initial_weights(const spec::ModelSpec& spec) {
  model::WeightSource random = model::random_weights(spec.seed, model::weight_draws(spec.name));
  if (spec.weights == "random") return random;
  return [random, file = spec::Safetensors(spec.weights)](const model::TensorInfo& info, std::span<float> values) {
    if (info.name.find(".running_") != std::string::npos && !file.contains(info.name)) return random(info, values);
    file.read(info.name, info.shape, values);
  };
}

}  // namespace chexbench::engine
