#include "engine/initial_weights.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"
#include "model/weights.hpp"
#include "spec/safetensors.hpp"

namespace chexbench::engine {
namespace {

// Returns the number of outputs of the file's last layer, or 0 if the file lacks that layer.
std::int64_t outputs_in(const spec::Safetensors& file, const std::string& classifier) {
  const std::vector<std::int64_t> shape = file.shape(classifier + ".weight");
  return shape.empty() ? 0 : shape.front();
}

// Returns a sentence about the running statistics that the file lacks, none if it has them all.
// @throws DataError if they are missing and frozen batch norms would use them
std::optional<std::string> missing_statistics(const spec::Safetensors& file, const spec::ModelSpec& spec,
                                              const model::Graph& network) {
  std::vector<model::TensorInfo> missing = model::buffers(network);
  std::erase_if(missing, [&](const model::TensorInfo& buffer) { return file.contains(buffer.name); });
  if (missing.empty()) return std::nullopt;
  const std::string text =
      fmt::format("{} has no '{}'{}", spec.weights, missing.front().name,
                  missing.size() > 1 ? fmt::format(" and {} more running statistics", missing.size() - 1) : "");
  if (spec.has_frozen_norms()) {
    throw DataError(
        fmt::format("model.weights: {}, which {} would keep: save the whole state_dict(), with its buffers, or set {}",
                    text, spec.freeze == spec::Freeze::base ? "model.freeze base" : "model.batch_norm frozen",
                    spec.freeze == spec::Freeze::base ? "model.freeze none" : "model.batch_norm train"));
  }
  return fmt::format("{}: these start from a mean of 0 and a variance of 1", text);
}

}  // namespace

spec::Safetensors named_as(const spec::Safetensors& file, const model::Graph& network) {
  std::vector<std::string> names;
  for (const model::Parameter& parameter : model::parameters(network)) names.push_back(parameter.info.name);
  return file.named_as(names);
}

std::string name_in(const spec::Safetensors& file, const std::string& parameter) {
  const std::string average = "ema." + parameter;
  return file.contains(average) ? average : parameter;
}

InitialWeights initial_weights(const spec::ModelSpec& spec, int outputs) {
  model::WeightSource random = model::random_weights(spec.seed, model::weight_draws(spec.name));
  const model::Graph network = model::make_network(spec.name, spec.image_size, outputs);
  const std::string classifier = network.layers.back().name;
  InitialWeights weights{.source = random, .notes = {}};
  if (spec.freeze == spec::Freeze::base) {
    weights.notes.push_back(
        fmt::format("model.freeze base: only layer '{}' is trained; the layers before it keep their weights, and their "
                    "batch norms the running statistics",
                    classifier));
  }
  if (spec.weights == "random") return weights;
  const spec::Safetensors file = named_as(spec::Safetensors(spec.weights), network);
  const std::int64_t in_file = outputs_in(file, classifier);
  const bool anew = in_file != 0 && in_file != outputs;
  if (anew) {
    weights.notes.push_back(
        fmt::format("layer '{}' starts from random weights: {} has {} outputs for it, and the images have {} labels",
                    classifier, spec.weights, in_file, outputs));
    log::info("model.weights: {}", weights.notes.back());
  }
  if (const auto missing = missing_statistics(file, spec, network)) {
    weights.notes.push_back(*missing);
    log::info("model.weights: {}", *missing);
  }
  weights.source = [random, file, classifier, anew](const model::TensorInfo& info, std::span<float> values) {
    if (anew && info.name.starts_with(classifier + ".")) return random(info, values);
    if (info.name.find(".running_") != std::string::npos && !file.contains(info.name)) return random(info, values);
    file.read(name_in(file, info.name), info.shape, values);
  };
  return weights;
}

}  // namespace chexbench::engine
