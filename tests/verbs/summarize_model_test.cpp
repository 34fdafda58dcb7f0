#include "verbs/model/model_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

const ModelLayer& named(const ModelSummary& network, const std::string& name) {
  const auto layer = std::ranges::find(network.layers, name, &ModelLayer::name);
  if (layer == network.layers.end()) throw std::runtime_error("no layer " + name);
  return *layer;
}

// Torchvision's counts, with 14 outputs instead of the last layer's 1000 classes.
TEST(SummarizeNetwork, CountsTheParametersOfTorchvision) {
  const auto parameters = [](const char* name) { return summarize_model(name, 224).parameters(); };
  EXPECT_EQ(parameters("resnet50"), 25557032 - 2049 * 986);
  EXPECT_EQ(parameters("densenet121"), 7978856 - 1025 * 986);
  EXPECT_EQ(parameters("alexnet"), 61100840 - 4097 * 986);
  EXPECT_EQ(parameters("googlenet"), 6624904 - 1025 * 986);
  EXPECT_EQ(parameters("mobilenet_v2"), 3504872 - 1281 * 986);
}

TEST(SummarizeNetwork, TellsWhatEachLayerHoldsAndComputes) {
  const ModelSummary network = summarize_model("alexnet", 224);
  const ModelLayer& first = named(network, "features.0");
  EXPECT_EQ(first.kind, "convolution");
  EXPECT_EQ(first.channels, 64);
  EXPECT_EQ(first.height, 55);
  EXPECT_EQ(first.width, 55);
  EXPECT_EQ(first.parameters, 64 * 3 * 121 + 64);
  EXPECT_DOUBLE_EQ(first.forward_flops, 2.0 * 64 * 3 * 121 * 55 * 55);
  EXPECT_EQ(first.activation_bytes, 64 * 55 * 55 * 4);
  EXPECT_EQ(named(network, "classifier.1").parameters, 9216 * 4096 + 4096);
  const auto flatten = std::ranges::find(network.layers, "flatten", &ModelLayer::kind);
  EXPECT_EQ(flatten->channels, 9216);
  EXPECT_EQ(flatten->activation_bytes, 0) << "the same bytes seen otherwise";
}

TEST(SummarizeNetwork, NamesTheTensorsOfItsWeights) {
  const ModelSummary network = summarize_model("mobilenet_v2", 224);
  EXPECT_EQ(network.tensors.front().name, "features.0.0.weight");
  EXPECT_EQ(network.tensors.front().shape, (std::vector<std::int64_t>{32, 3, 3, 3}));
  EXPECT_EQ(network.tensors.back().name, "features.18.1.running_var");
}

TEST(SummarizeNetwork, OfALargerImageHasTheSameParametersAndMoreOfTheRest) {
  const auto small = summarize_model("mobilenet_v2", 128), large = summarize_model("mobilenet_v2", 256);
  EXPECT_EQ(small.parameters(), large.parameters());
  EXPECT_NEAR(large.forward_flops() / small.forward_flops(), 4, 0.05);
  EXPECT_GT(large.activation_bytes(), 3 * small.activation_bytes());
}

TEST(SummarizeNetwork, SuggestsTheNearestName) {
  try {
    summarize_model("mobilenetv2", 224);
    FAIL() << "accepted";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("mobilenet_v2"));
  }
}

}  // namespace
}  // namespace chexbench::verbs
