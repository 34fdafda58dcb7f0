#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "bench/training/checkpoint.hpp"
#include "core/errors.hpp"
#include "core/printable.hpp"
#include "engine/engine.hpp"
#include "engine/initial_weights.hpp"
#include "model/networks.hpp"
#include "spec/parse.hpp"
#include "spec/sweep.hpp"
#include "verbs/evaluate/evaluate.hpp"

namespace chexbench::verbs {
namespace {

constexpr const char* kSubject = "checkpoint";

bool sets(const std::vector<std::string>& overrides, const std::string& key) {
  return std::ranges::any_of(overrides, [&](const std::string& one) { return one.starts_with(key + "="); });
}

void check_options(const EvaluateOptions& options) {
  if (options.images.empty() && options.root.empty()) {
    throw SpecError("nothing to evaluate: name a data set by --data ROOT, or the files of single images");
  }
  if (!options.images.empty() && !options.root.empty()) {
    throw SpecError("--data and single images exclude each other: the split of --data says which images it has");
  }
  if (options.class_maps > 0 && (options.images.empty() || options.ten_crop)) {
    throw SpecError("--cam shows single images as a whole: name their files, without --data and --ten-crop");
  }
  for (const char* key : {"data.root", "data.split", "model.weights", "training.checkpoint"}) {
    if (!sets(options.overrides, key)) continue;
    throw SpecError(fmt::format("--set {}: --data, --split and --checkpoint say this", key));
  }
}

// The settings that a file without notes on its use leaves to the command line.
void check_stated(const bench::TrainedNetwork& network, const EvaluateOptions& options) {
  if (network.name.empty() && !sets(options.overrides, "model.name")) {
    throw SpecError(
        fmt::format("{}: {}: these are weights without the name of their network: add --set model.name, as in --set "
                    "model.name=densenet121, and, unless it is 224, --set model.image_size",
                    kSubject, options.checkpoint));
  }
  if (!network.name.empty() && network.use.empty() && !sets(options.overrides, "model.image_size")) {
    throw SpecError(
        fmt::format("{}: {}: an older version wrote it without the size of the images: add --set model.image_size, "
                    "and preprocess.crop and preprocess.resize if its training had them",
                    kSubject, options.checkpoint));
  }
}

spec::TrialSpec only_trial(const std::string& text, const std::string& source,
                           const std::vector<std::string>& overrides) {
  std::vector<spec::Trial> trials = spec::expand(spec::parse_spec(text, source, overrides));
  if (trials.size() != 1) throw SpecError(fmt::format("{}: one value for each key; evaluate makes no sweep", source));
  return std::move(trials.front().spec);
}

// Returns the checkpoint's notes on the use of its network, as overrides. Other keys there are ignored: the file is not
// trusted.
// @throws DataError if it is not a spec
std::vector<std::string> use_of(const bench::TrainedNetwork& network, const std::string& path) {
  if (network.name.empty()) return {};
  const auto known = model::network_names();
  if (std::ranges::find(known, network.name) == known.end()) {
    throw DataError(fmt::format("{}: {}: it is of the network '{}', which this version does not have{}", kSubject, path,
                                printable(network.name), suggestion(network.name, known)));
  }
  std::vector<std::string> overrides = {spec::text_override("model.name", network.name)};
  if (network.use.empty()) {  // from a version without colors
    overrides.emplace_back("data.color=gray");
    return overrides;
  }
  try {
    const spec::TrialSpec told = only_trial(network.use, kSubject, {"data.format=ready", "data.root="});
    overrides.push_back(fmt::format("model.image_size={}", told.model.image_size));
    // Gray if a checkpoint of an older version lacks it.
    overrides.push_back(fmt::format("data.color={}", spec::to_string(spec::color_of(told.data))));
    overrides.push_back(fmt::format("preprocess.resize={}", spec::to_string(told.preprocess.resize)));
    overrides.push_back(fmt::format("preprocess.crop={}", told.preprocess.crop));
    overrides.push_back(fmt::format("training.task={}", spec::to_string(told.training.task)));
  } catch (const SpecError& error) {
    throw DataError(fmt::format("{}: {}: damaged: its 'use' is no spec: {}", kSubject, path, error.what()));
  }
  return overrides;
}

spec::TrialSpec trial_spec_of(const bench::TrainedNetwork& network, const EvaluateOptions& options) {
  std::vector<std::string> overrides = use_of(network, options.checkpoint);
  std::string root = options.root;
  if (!options.images.empty()) {  // a spec needs a root, which single images do not use
    root = std::filesystem::path(options.images.front()).parent_path().string();
    if (root.empty()) root = ".";
  }
  overrides.push_back(spec::text_override("data.root", root));
  overrides.push_back("data.split=" + options.split);
  overrides.insert(overrides.end(), options.overrides.begin(), options.overrides.end());
  return only_trial("{}", "--set", overrides);
}

void check_name(const bench::TrainedNetwork& network, const spec::TrialSpec& spec, const std::string& path) {
  if (network.name.empty() || network.name == spec.model.name) return;
  throw SpecError(
      fmt::format("{}: {}: it is a {}, and --set model.name says {}: leave that out, or name the checkpoint "
                  "of a {}",
                  kSubject, path, network.name, spec.model.name, spec.model.name));
}

// @throws SpecError if class activation maps are requested from an engine without them
std::string engine_of(const spec::TrialSpec& spec, const EvaluateOptions& options) {
  if (options.class_maps == 0) return engine::resolve_engine_name(spec.engine);
  if (spec.engine == "auto" || spec.engine == "onednn") return engine::resolve_engine_name("onednn");
  throw SpecError(fmt::format("--set engine={}: class activation maps are computed by engine onednn", spec.engine));
}

// Returns the number of outputs of the weights.
// @throws DataError if they are of another network
int outputs_of(const spec::Safetensors& weights, const model::Graph& network, const std::string& path) {
  const std::string classifier = network.layers.back().name;
  const std::vector<std::int64_t> shape = weights.shape(classifier + ".weight");
  if (!shape.empty() && shape.front() > 0) return static_cast<int>(shape.front());
  throw DataError(
      fmt::format("{}: {}: it has no '{}.weight', the last layer of a {}: it is of another network; say which by --set "
                  "model.name",
                  kSubject, path, classifier, network.name));
}

}  // namespace

EvaluatedNetwork read_network(const EvaluateOptions& options) {
  check_options(options);
  const spec::Safetensors file(options.checkpoint, kSubject);
  const bench::TrainedNetwork network = bench::trained_network(file, options.checkpoint);
  check_stated(network, options);
  spec::TrialSpec spec = trial_spec_of(network, options);
  check_name(network, spec, options.checkpoint);
  if (spec.data.format == spec::DataFormat::ready) {
    throw SpecError("--set data.format=ready: ready-made batches show nothing that a network could find");
  }
  spec.engine = engine_of(spec, options);
  const model::Graph graph = model::make_network(spec.model.name, spec.model.image_size);
  const spec::Safetensors weights = engine::named_as(file, graph);
  const int outputs = outputs_of(weights, graph, options.checkpoint);
  if (!network.labels.empty() && static_cast<int>(network.labels.size()) != outputs) {
    throw DataError(fmt::format("{}: {}: damaged: it has {} outputs and {} labels", kSubject, options.checkpoint,
                                outputs, network.labels.size()));
  }
  return {.weights = weights,
          .spec = std::move(spec),
          .labels = network.labels,
          .outputs = outputs,
          .epochs = network.epochs};
}

}  // namespace chexbench::verbs
