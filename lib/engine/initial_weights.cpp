#include "engine/initial_weights.hpp"

#include <fmt/format.h>

#include "core/log.hpp"
#include "model/networks.hpp"
#include "model/weights.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::engine {
namespace {

// Returns the number of outputs of the file's last layer, or 0 if the file lacks that layer.
std::int64_t outputs_in(const spec::Safetensors& file, const std::string& classifier) {
  const std::vector<std::int64_t> shape = file.shape(classifier + ".weight");
  return shape.empty() ? 0 : shape.front();
}

}  // namespace

std::string name_in(const spec::Safetensors& file, const std::string& parameter) {
  const std::string average = "ema." + parameter;
  return file.contains(average) ? average : parameter;
}

InitialWeights initial_weights(const spec::ModelSpec& spec, int outputs) {
  model::WeightSource random = model::random_weights(spec.seed, model::weight_draws(spec.name));
  const std::string classifier = model::make_network(spec.name, spec.image_size, outputs).layers.back().name;
  InitialWeights weights{.source = random, .notes = {}};
  if (spec.freeze == spec::Freeze::base) {
    weights.notes.push_back(
        fmt::format("model.freeze base: only layer '{}' is trained; the layers before it keep their weights, and their "
                    "batch norms the running statistics",
                    classifier));
  }
  if (spec.weights == "random") return weights;
  const spec::Safetensors file(spec.weights);
  const std::int64_t in_file = outputs_in(file, classifier);
  const bool anew = in_file != 0 && in_file != outputs;
  if (anew) {
    weights.notes.push_back(
        fmt::format("layer '{}' starts from random weights: {} has {} outputs for it, and the images have {} labels",
                    classifier, spec.weights, in_file, outputs));
    log::info("model.weights: {}", weights.notes.back());
  }
  weights.source = [random, file, classifier, anew](const model::TensorInfo& info, std::span<float> values) {
    if (anew && info.name.starts_with(classifier + ".")) return random(info, values);
    if (info.name.find(".running_") != std::string::npos && !file.contains(info.name)) return random(info, values);
    file.read(name_in(file, info.name), info.shape, values);
  };
  return weights;
}

}  // namespace chexbench::engine
