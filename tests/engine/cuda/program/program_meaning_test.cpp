// Checks that a lowered program computes the same as its graph: both are interpreted in double, on whole networks.
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/param_name.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/feature_map.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kImages = 3;

// AlexNet reduces smaller images to nothing.
int image_size(const std::string& network) { return network == "alexnet" ? 64 : 32; }

using model::Layer;
using model::LayerKind;
using Weights = std::map<std::string, std::vector<float>>;

Weights weights_of(const model::Graph& graph) {
  const model::WeightSource source = model::formula_weights("program");
  Weights weights;
  for (const model::Parameter& parameter : model::parameters(graph)) {
    std::vector<float>& values = weights[parameter.info.name];
    values.resize(static_cast<std::size_t>(parameter.info.count()));
    source(parameter.info, values);
  }
  return weights;
}

FeatureMap images(int channels, int size) {
  std::vector<float> pixels(static_cast<std::size_t>(kImages * size * size * 3));
  model::fill_formula_signed("program", "input", pixels);
  const FeatureMap shape(kImages, size, size, channels);
  return make_map(shape, size, size, channels, [&](int n, int y, int x, int c) {
    return c < 3 ? pixels[static_cast<std::size_t>(((n * size + y) * size + x) * 3 + c)] : 0.0;
  });
}

void apply(Activation activation, FeatureMap& map) {
  for (double& value : map.values) {
    if (activation != Activation::none) value = std::max(value, 0.0);
    if (activation == Activation::relu6) value = std::min(value, 6.0);
  }
}

void add(const FeatureMap& other, FeatureMap& map) {
  for (std::size_t i = 0; i < map.values.size(); ++i) map.values[i] += other.values[i];
}

class GraphRun {
 public:
  GraphRun(const model::Graph& graph, const Weights& weights) : weights_(weights) {
    for (const Layer& layer : graph.layers) maps_.push_back(compute(layer));
  }
  const FeatureMap& logits() const { return maps_.back(); }

 private:
  const FeatureMap& input(const Layer& layer, std::size_t i = 0) const {
    return maps_[static_cast<std::size_t>(layer.inputs[i])];
  }

  FeatureMap compute(const Layer& layer) const {
    switch (layer.kind) {
      case LayerKind::input:
        return images(3, layer.height);
      case LayerKind::convolution:
        return biased(layer, convolve(layer, input(layer), input(layer).channels, weights_.at(layer.name + ".weight")));
      case LayerKind::batch_norm:
        return normalize(input(layer), statistics(input(layer)), layer.epsilon, weights_.at(layer.name + ".weight"),
                         weights_.at(layer.name + ".bias"));
      case LayerKind::add:
        return sum(layer);
      case LayerKind::concat:
        return joined(layer);
      case LayerKind::max_pool:
      case LayerKind::average_pool:
        return pool(layer, input(layer));
      case LayerKind::global_average_pool:
        return global_average(input(layer));
      case LayerKind::adaptive_average_pool:
        return adaptive_average(input(layer), layer.height);
      case LayerKind::flatten:
        return flatten(input(layer));
      case LayerKind::dropout:  // Off here.
        return input(layer);
      case LayerKind::linear:
        return biased(layer, linear(input(layer), layer.channels, weights_.at(layer.name + ".weight")));
      default:
        return activated(layer);
    }
  }

  FeatureMap biased(const Layer& layer, const FeatureMap& map) const {
    return layer.bias ? add_bias(map, weights_.at(layer.name + ".bias")) : map;
  }
  FeatureMap activated(const Layer& layer) const {
    FeatureMap result = input(layer);
    apply(layer.kind == LayerKind::relu ? Activation::relu : Activation::relu6, result);
    return result;
  }
  FeatureMap sum(const Layer& layer) const {
    FeatureMap result = input(layer);
    add(input(layer, 1), result);
    return result;
  }
  FeatureMap joined(const Layer& layer) const {
    std::vector<std::pair<const FeatureMap*, int>> channels;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      for (int c = 0; c < input(layer, i).channels; ++c) channels.emplace_back(&input(layer, i), c);
    }
    return make_map(input(layer), layer.height, layer.width, layer.channels, [&](int n, int y, int x, int c) {
      const auto& [map, channel] = channels[static_cast<std::size_t>(c)];
      return map->at(n, y, x, channel);
    });
  }

  const Weights& weights_;
  std::vector<FeatureMap> maps_;
};

class ProgramRun {
 public:
  ProgramRun(const model::Graph& graph, const Program& program, const Weights& weights)
      : graph_(graph), program_(program), weights_(weights) {
    for (const Buffer& buffer : program.buffers) {
      buffers_.emplace_back(kImages, buffer.height, buffer.width, buffer.channels);
      statistics_.emplace_back(static_cast<std::size_t>(buffer.channels));
    }
    store(images(kInputChannels, graph.image_size), program.input);
    for (const Node& node : program.nodes) run(node);
  }
  FeatureMap logits() const { return load(program_.logits); }

 private:
  static std::size_t index(const Slice& slice) { return static_cast<std::size_t>(slice.buffer); }

  FeatureMap load(const Slice& slice) const {
    const FeatureMap& buffer = buffers_[index(slice)];
    return make_map(buffer, buffer.height, buffer.width, slice.channels,
                    [&](int n, int y, int x, int c) { return buffer.at(n, y, x, slice.first_channel + c); });
  }
  // A narrower map fills the first channels; the others are padding and stay zero.
  void store(const FeatureMap& map, const Slice& slice) {
    FeatureMap& buffer = buffers_[index(slice)];
    ASSERT_EQ(std::pair(map.height, map.width), std::pair(buffer.height, buffer.width));
    for (int n = 0; n < map.images; ++n)
      for (int y = 0; y < map.height; ++y)
        for (int x = 0; x < map.width; ++x)
          for (int c = 0; c < map.channels; ++c) buffer.at(n, y, x, slice.first_channel + c) = map.at(n, y, x, c);
  }

  void run(const Node& node) {
    const Layer& layer = graph_.layers[static_cast<std::size_t>(node.layer)];
    const FeatureMap in = load(node.in);
    switch (node.kind) {
      case NodeKind::convolution: {
        const int inputs = graph_.layers[static_cast<std::size_t>(layer.inputs.front())].channels;
        return store(convolve(layer, in, inputs, weights_.at(layer.name + ".weight")), node.out);
      }
      case NodeKind::statistics:
        std::ranges::copy(statistics(in), statistics_[index(node.in)].begin() + node.in.first_channel);
        return;
      case NodeKind::normalize: {
        const FeatureMap map = normalized(node, layer, in);
        if (!node.pool.exists()) return store(map, node.out);
        return store(pool(graph_.layers[static_cast<std::size_t>(node.pool.layer)], map), node.out);
      }
      case NodeKind::max_pool:
      case NodeKind::average_pool:
        return store(pool(layer, in), node.out);
      case NodeKind::global_average_pool:
        return store(global_average(in), node.out);
      case NodeKind::adaptive_average_pool:
        return store(adaptive_average(in, layer.height), node.out);
      case NodeKind::bias:
        return store(biased(node, layer, in), node.out);
      case NodeKind::copy:
        return store(in, node.out);
      case NodeKind::dropout:
        throw std::logic_error("a program that was lowered without dropout has some");
      case NodeKind::linear: {
        const FeatureMap product = linear(in, layer.channels, weights_.at(layer.name + ".weight"));
        // The loss adds the last layer's bias.
        return store(node.out == program_.logits ? biased(node, layer, product) : product, node.out);
      }
    }
  }

  FeatureMap biased(const Node& node, const Layer& layer, const FeatureMap& in) const {
    FeatureMap result = add_bias(in, weights_.at(layer.name + ".bias"));
    apply(node.activation, result);
    return result;
  }

  FeatureMap normalized(const Node& node, const Layer& layer, const FeatureMap& in) const {
    const auto first = statistics_[index(node.in)].begin() + node.in.first_channel;
    FeatureMap result = normalize(in, {first, first + node.in.channels}, layer.epsilon,
                                  weights_.at(layer.name + ".weight"), weights_.at(layer.name + ".bias"));
    if (node.residual.exists()) add(load(node.residual), result);
    apply(node.activation, result);
    return result;
  }

  const model::Graph& graph_;
  const Program& program_;
  const Weights& weights_;
  std::vector<FeatureMap> buffers_;
  std::vector<std::vector<ChannelStatistics>> statistics_;  // For each channel of each buffer.
};

class ProgramMeaning : public testing::TestWithParam<const char*> {};

void expect_meaning(const model::Graph& graph, const Program& program) {
  const Weights weights = weights_of(graph);
  const GraphRun expected(graph, weights);
  const FeatureMap logits = ProgramRun(graph, program, weights).logits();
  for (int n = 0; n < kImages; ++n) {
    for (int c = 0; c < expected.logits().channels; ++c)
      EXPECT_NEAR(logits.at(n, 0, 0, c), expected.logits().at(n, 0, 0, c), 1e-9);
    for (int c = expected.logits().channels; c < logits.channels; ++c) EXPECT_EQ(logits.at(n, 0, 0, c), 0);
  }
}

TEST_P(ProgramMeaning, IsThatOfTheGraph) {
  const model::Graph graph = model::make_network(GetParam(), image_size(GetParam()));
  for (const bool fuses_pools : {true, false}) expect_meaning(graph, lower(graph, {.fuses_pools = fuses_pools}));
}

TEST(PackedProgramMeaning, IsThatOfTheGraph) {
  const model::Graph graph = model::densenet121(image_size("densenet121"));
  expect_meaning(graph, with_packed_outputs(lower(graph), [](const Node&) { return true; }));
}

INSTANTIATE_TEST_SUITE_P(Networks, ProgramMeaning,
                         testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"),
                         ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
