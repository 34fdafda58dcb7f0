// Compares the gradients of whole small networks with finite differences of their loss.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "engine/onednn/loss.hpp"
#include "engine/onednn/network.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr int kImages = 3;
constexpr std::uint64_t kDropoutSeed = 7;

// A bf16 number, converted by truncation.
struct Truncated {
  std::uint16_t bits;
  Truncated& operator=(float value) {
    bits = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    return *this;
  }
};

int norm_relu(model::GraphBuilder& net, int x, const std::string& name) { return net.relu(net.batch_norm(x, name)); }

// A stem, and two residual blocks: one with a projected shortcut, one without.
model::Graph residual_graph() {
  model::GraphBuilder net("residual", 32);
  int x = norm_relu(net, net.convolution(net.input(), "stem", 16, {.kernel = 3, .stride = 2, .padding = 1}), "bn0");
  x = net.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  const int wide = net.batch_norm(net.convolution(x, "conv1", 32, {.kernel = 3, .stride = 2, .padding = 1}), "bn1");
  const int shortcut = net.batch_norm(net.convolution(x, "down", 32, {.stride = 2}), "bn2");
  x = net.relu(net.add(wide, shortcut));
  const int inner = norm_relu(net, net.convolution(x, "conv3", 16, {}), "bn3");
  x = net.relu(net.add(net.batch_norm(net.convolution(inner, "conv4", 32, {}), "bn4"), x));
  net.linear(net.global_average_pool(x), "fc", 14);
  return net.finish();
}

// A dense block of three maps, a transition, and a norm over the last block.
model::Graph dense_graph() {
  model::GraphBuilder net("dense", 32);
  int x = norm_relu(net, net.convolution(net.input(), "stem", 16, {.kernel = 3, .stride = 2, .padding = 1}), "bn0");
  std::vector<int> features{net.max_pool(x, {.kernel = 3, .stride = 2, .padding = 1})};
  for (const char* name : {"a", "b"}) {
    const int in = features.size() == 1 ? features.front() : net.concat(features);
    const int narrow = net.convolution(norm_relu(net, in, std::string("n1") + name), std::string("c1") + name, 16, {});
    features.push_back(net.convolution(norm_relu(net, narrow, std::string("n2") + name), std::string("c2") + name, 16,
                                       {.kernel = 3, .padding = 1}));
  }
  x = net.convolution(norm_relu(net, net.concat(features), "nt"), "ct", 16, {});
  x = norm_relu(net, net.convolution(net.average_pool(x, {.kernel = 2, .stride = 2}), "last", 16, {}), "n5");
  net.linear(net.global_average_pool(x), "fc", 14);
  return net.finish();
}

// Two branches that are concatenated, one of them through channels that do not fill a vector. A convolution and a
// pool read the concatenation.
model::Graph inception_graph() {
  model::GraphBuilder net("inception", 32);
  int x = norm_relu(net, net.convolution(net.input(), "stem", 16, {.kernel = 3, .stride = 2, .padding = 1}), "bn0");
  for (const std::string name : {"a", "b"}) {
    const int ones = norm_relu(net, net.convolution(x, "c1" + name, 16, {}), "n1" + name);
    const int narrow = norm_relu(net, net.convolution(x, "c2" + name, 24, {}), "n2" + name);
    const int wide = norm_relu(net, net.convolution(narrow, "c3" + name, 32, {.kernel = 3, .padding = 1}), "n3" + name);
    const int pool = net.max_pool(x, {.kernel = 3, .stride = 1, .padding = 1, .ceil = true});
    const int pooled = norm_relu(net, net.convolution(pool, "c4" + name, 16, {}), "n4" + name);
    x = net.concat({ones, wide, pooled});
    if (name == "a") x = net.max_pool(x, {.kernel = 3, .stride = 2, .ceil = true});
  }
  net.linear(net.dropout(net.global_average_pool(x), 0.2), "fc", 14);
  return net.finish();
}

// Depthwise convolutions between maps with few channels that are added without an activation.
model::Graph bottleneck_graph() {
  model::GraphBuilder net("bottleneck", 32);
  const auto norm_relu6 = [&net](int x, const std::string& name) { return net.relu6(net.batch_norm(x, name)); };
  int x = norm_relu6(net.convolution(net.input(), "stem", 16, {.kernel = 3, .stride = 2, .padding = 1}), "bn0");
  for (const std::string name : {"a", "b", "c"}) {
    const int wide = norm_relu6(net.convolution(x, "c1" + name, 48, {}), "n1" + name);
    const int filtered = norm_relu6(
        net.convolution(wide, "c2" + name, 48, {.kernel = 3, .stride = name == "a" ? 2 : 1, .padding = 1}, 48),
        "n2" + name);
    const int narrow = net.batch_norm(net.convolution(filtered, "c3" + name, 24, {}), "n3" + name);
    x = name == "a" ? narrow : net.add(x, narrow);
  }
  x = norm_relu6(net.convolution(x, "last", 32, {}), "n4");
  net.linear(net.dropout(net.global_average_pool(x), 0.2), "fc", 14);
  return net.finish();
}

// Convolutions with biases and no norms, and hidden linear layers.
model::Graph plain_graph() {
  model::GraphBuilder net("plain", 32);
  int x = net.relu(net.convolution(net.input(), "c1", 16, {.kernel = 5, .stride = 2, .padding = 2}, 1, true));
  x = net.relu(
      net.convolution(net.max_pool(x, {.kernel = 3, .stride = 2}), "c2", 32, {.kernel = 3, .padding = 1}, 1, true));
  x = net.relu(net.convolution(x, "c3", 16, {.kernel = 3, .padding = 1}, 1, true));
  x = net.flatten(net.adaptive_average_pool(x, 4));
  x = net.relu(net.linear(net.dropout(x, 0.5), "hidden", 48));
  net.linear(net.dropout(x, 0.5), "last", 14);
  return net.finish();
}

struct Case {
  std::string name;
  model::Graph (*graph)();
  bool frozen;
};

class GradientTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    for (const auto& slot : network_.store().slots()) {
      std::vector<float> values(static_cast<std::size_t>(slot->info.count()));
      model::formula_weights("gradient")(slot->info, values);
      network_.store().load(*slot, slot->weights, values);
    }
    const auto& shape = network_.input().shape;
    model::fill_formula_signed("gradient", "input",
                               {reinterpret_cast<float*>(network_.input().data),
                                static_cast<std::size_t>(kImages * shape.channels * shape.pixels())});
    labels_.resize(kImages * 14);
    model::fill_formula_labels("gradient", "target", labels_);
  }

  double loss() {
    network_.refresh_weights();
    network_.forward();
    return loss_of({}, kNihLabels, logits(network_.logits()), labels_, logits(network_.logits_gradient()));
  }
  static std::span<float> logits(const Tensor& tensor) { return {reinterpret_cast<float*>(tensor.data), kImages * 14}; }
  std::size_t input_count() const {
    const auto& shape = network_.input().shape;
    return static_cast<std::size_t>(kImages * shape.channels * shape.pixels());
  }
  // Copies the input, which is NHWC for bf16 on AMX, and planes otherwise.
  void copy_input(const Tensor& to) const {
    const auto* const from = reinterpret_cast<const float*>(network_.input().data);
    auto* const into = reinterpret_cast<Truncated*>(to.data);
    const auto pixels = static_cast<std::size_t>(to.shape.pixels()),
               channels = static_cast<std::size_t>(to.shape.channels);
    for (std::size_t i = 0; i < input_count(); ++i) {
      const std::size_t pixel = i % pixels, channel = i / pixels % channels, image = i / pixels / channels;
      into[to.layout == Layout::nchw ? i : (image * pixels + pixel) * channels + channel] = from[i];
    }
  }
  // Returns a parameter's weights or gradient in PyTorch's order, since the two networks use different layouts.
  static std::vector<float> read(const Network& network, const model::TensorInfo& info, float* ParameterSlot::*from) {
    std::vector<float> values(static_cast<std::size_t>(info.count()));
    const ParameterSlot& slot = network.store().slot(info.name);
    network.store().read(slot, slot.*from, values);
    return values;
  }
  // Must be called before backward, which overwrites the input.
  double difference(const ParameterSlot& slot, std::size_t i) {
    constexpr float kStep = 4e-3f;
    const float kept = slot.weights[i];
    slot.weights[i] = kept + kStep;
    const double above = loss();
    slot.weights[i] = kept - kStep;
    const double below = loss();
    slot.weights[i] = kept;
    return (above - below) / (2.0 * static_cast<double>(kStep));
  }

  Device device_ = make_device(spec::Precision::f32);
  // Dropout drops the same values in every pass, since no batch begins, so finite differences work with it too.
  Network network_{device_, GetParam().graph(), kImages, GetParam().frozen, kDropoutSeed};
  std::vector<float> labels_;
};

TEST_P(GradientTest, AgreesWithFiniteDifferencesOfTheLoss) {
  struct Probe {
    const ParameterSlot* slot;
    std::size_t index;
    double expected;
  };
  std::vector<Probe> probes;
  for (const auto& slot : network_.store().slots()) {
    const auto count = static_cast<std::size_t>(slot->info.count());
    for (const std::size_t index : {std::size_t{0}, count / 2, count - 1}) {
      probes.push_back({slot.get(), index, difference(*slot, index)});
    }
  }
  loss();
  network_.backward([](std::size_t) {});
  double worst = 0, largest = 0;
  int large = 0;
  for (const Probe& probe : probes) {
    const auto got = static_cast<double>(probe.slot->gradient[probe.index]);
    // Even a small step of the weight crosses some ReLU kinks, and a larger one would be affected by curvature, so a
    // few percent of error are allowed.
    EXPECT_NEAR(got, probe.expected, 0.08 * std::abs(probe.expected) + 1.5e-3) << probe.slot->info.name;
    worst = std::max(worst, std::abs(got - probe.expected));
    largest = std::max(largest, std::abs(probe.expected));
    large += std::abs(probe.expected) > 0.005 ? 1 : 0;
  }
  // Otherwise the test above would pass for gradients that are all zero.
  EXPECT_GT(large, static_cast<int>(probes.size()) / 10);
  EXPECT_GT(largest, 10 * worst);
}

TEST_P(GradientTest, InBf16StaysNearF32) {
  if (!cpu_features().avx512_bf16) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  const Device device = make_device(spec::Precision::bf16);
  Network half(device, GetParam().graph(), kImages, GetParam().frozen, kDropoutSeed);
  copy_input(half.input());
  for (const auto& slot : half.store().slots()) {
    half.store().load(*slot, slot->weights, read(network_, slot->info, &ParameterSlot::weights));
  }
  const double expected = loss();
  network_.backward([](std::size_t) {});
  half.refresh_weights();
  half.forward();
  EXPECT_NEAR(loss_of({}, kNihLabels, logits(half.logits()), labels_, logits(half.logits_gradient())), expected,
              0.01 * expected);
  half.backward([](std::size_t) {});
  for (const auto& slot : half.store().slots()) {
    const auto exact = read(network_, slot->info, &ParameterSlot::gradient);
    const auto rounded = read(half, slot->info, &ParameterSlot::gradient);
    double difference = 0, scale = 1e-6;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      difference += std::pow(static_cast<double>(exact[i] - rounded[i]), 2);
      scale += std::pow(static_cast<double>(exact[i]), 2);
    }
    // A mantissa of eight bits, through up to twelve norms.
    EXPECT_LT(std::sqrt(difference / scale), 0.3) << slot->info.name;
  }
}

TEST_P(GradientTest, CompletesInTheOrderOfTheFlatArray) {
  loss();
  std::size_t last = 0;
  network_.backward([&](std::size_t ready) {
    EXPECT_GE(ready, last);
    last = ready;
  });
  EXPECT_EQ(last, network_.store().size());
}

INSTANTIATE_TEST_SUITE_P(All, GradientTest,
                         testing::Values(Case{"residual", residual_graph, false}, Case{"dense", dense_graph, false},
                                         Case{"inception", inception_graph, false},
                                         Case{"bottleneck", bottleneck_graph, false}, Case{"plain", plain_graph, false},
                                         Case{"residual_frozen", residual_graph, true},
                                         Case{"dense_frozen", dense_graph, true}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace chexbench::engine::onednn
