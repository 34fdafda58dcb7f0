#include "engine/cuda/program/parameter_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "engine/cuda/program/backward_order.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using model::ParameterRole;
using testing::HasSubstr;

std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

// Returns 1, 2, 3 and so on up to 2^24, where f32 stops being exact, and again from 1; padding has another value.
std::vector<float> numbered(const ParameterPlace& place) {
  std::vector<float> values(size(place.parameter.info.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(1 + i % (std::size_t{1} << 24));
  return values;
}

std::vector<float> on_device(const ParameterPlace& place, const std::vector<float>& values) {
  std::vector<float> device(place.count, std::numeric_limits<float>::quiet_NaN());
  to_device_order(place, values, device);
  return device;
}

class CudaParameterLayout : public testing::TestWithParam<const char*> {
 protected:
  const model::Graph graph_ = model::make_network(GetParam(), 224);
  const Program program_ = lower(graph_);
  const ParameterLayout layout_{graph_, program_};
};

TEST_P(CudaParameterLayout, HoldsEachParameterOfTheNetworkOnce) {
  const auto sorted = [](auto names) {
    std::ranges::sort(names);
    return names;
  };
  std::vector<std::string> names, expected;
  for (const ParameterPlace& place : layout_.places()) names.push_back(place.parameter.info.name);
  for (const model::Parameter& parameter : model::parameters(graph_)) expected.push_back(parameter.info.name);
  EXPECT_EQ(sorted(names), sorted(expected));
}

TEST_P(CudaParameterLayout, OfAFrozenBaseOnlyTheLastLayerIsTrained) {
  const ParameterLayout frozen(graph_, program_, spec::Freeze::base);
  const int last = static_cast<int>(graph_.layers.size()) - 1;
  for (const ParameterPlace& place : frozen.places())
    EXPECT_EQ(frozen.is_trained(place), place.parameter.layer == last) << place.parameter.info.name;
  for (const auto kind : {ParameterKind::matrix, ParameterKind::vector}) {
    EXPECT_EQ(frozen.size(kind), layout_.size(kind));
    EXPECT_EQ(layout_.trained(kind), layout_.size(kind));
  }
}

// There must be no gap, or a count of complete elements would be wrong.
TEST_P(CudaParameterLayout, PlacesOfAKindFollowEachOtherAligned) {
  std::size_t ends[kParameterKinds] = {0, 0};
  for (const ParameterPlace& place : layout_.places()) {
    std::size_t& end = ends[static_cast<std::size_t>(place.kind)];
    EXPECT_EQ(place.offset, end) << place.parameter.info.name;
    EXPECT_EQ(place.offset % kParameterAlign, 0u);
    EXPECT_GE(place.count, size(place.parameter.info.count()));
    end = place.offset + place.count;
  }
  EXPECT_EQ(layout_.size(ParameterKind::matrix), ends[0]);
  EXPECT_EQ(layout_.size(ParameterKind::vector), ends[1]);
}

TEST_P(CudaParameterLayout, OnlyWeightsOfConvolutionsAndLinearLayersAreMatrices) {
  for (const ParameterPlace& place : layout_.places()) {
    const ParameterRole role = place.parameter.role;
    const bool matrix = role == ParameterRole::convolution_weight || role == ParameterRole::linear_weight;
    EXPECT_EQ(place.kind, matrix ? ParameterKind::matrix : ParameterKind::vector) << place.parameter.info.name;
  }
}

TEST_P(CudaParameterLayout, PlacesComeInTheOrderInWhichBackwardReachesTheirLayers) {
  std::vector<int> layers, expected;
  for (const ParameterPlace& place : layout_.places()) {
    if (layers.empty() || layers.back() != place.parameter.layer) layers.push_back(place.parameter.layer);
  }
  for (const BackwardStep& step : backward_order(program_)) {
    const Node& node = program_.nodes[static_cast<std::size_t>(step.node)];
    if (node.kind == NodeKind::convolution || node.kind == NodeKind::normalize || node.kind == NodeKind::linear)
      expected.push_back(node.layer);
  }
  EXPECT_EQ(layers, expected);
}

TEST_P(CudaParameterLayout, ElementsComeBackAsTheyWent) {
  for (const ParameterPlace& place : layout_.places()) {
    const std::vector<float> values = numbered(place);
    std::vector<float> back(values.size());
    from_device_order(place, on_device(place, values), back);
    EXPECT_TRUE(back == values) << place.parameter.info.name;
  }
}

TEST_P(CudaParameterLayout, WhatIsNoElementOfTheTensorIsZero) {
  for (const ParameterPlace& place : layout_.places()) {
    const std::vector<float> values = numbered(place);
    const auto zeros = std::ranges::count(on_device(place, values), 0.0f);
    EXPECT_EQ(size(zeros), place.count - values.size()) << place.parameter.info.name;
  }
}

TEST_P(CudaParameterLayout, KernelsHaveTheirInputChannelsInnermost) {
  for (const ParameterPlace& place : layout_.places()) {
    const std::vector<std::int64_t>& shape = place.parameter.info.shape;
    if (shape.size() != 4) continue;
    const std::vector<float> values = numbered(place), device = on_device(place, values);
    const std::int64_t inputs = shape[1], window = shape[2] * shape[3];
    // Checks the ends of each axis and one place in between: o, i and w of [outputs][inputs][window].
    for (const std::int64_t o : {std::int64_t{0}, shape[0] / 2, shape[0] - 1})
      for (const std::int64_t i : {std::int64_t{0}, inputs / 2, inputs - 1})
        for (const std::int64_t w : {std::int64_t{0}, window / 2, window - 1})
          EXPECT_EQ(device[size((o * window + w) * place.inputs + i)], values[size((o * inputs + i) * window + w)])
              << place.parameter.info.name << " at " << o << ", " << i << ", " << w;
  }
}

TEST_P(CudaParameterLayout, ImagesGetAFourthChannelAndTheClassifierTwoOutputsMore) {
  const ParameterPlace& last = layout_.places().front();
  const ParameterPlace& first = *std::ranges::find(layout_.places().rbegin(), layout_.places().rend(),
                                                   ParameterKind::matrix, &ParameterPlace::kind);
  EXPECT_EQ(first.parameter.role, ParameterRole::convolution_weight);
  EXPECT_EQ(first.inputs, kInputChannels);
  const int kernel = graph_.name == "mobilenet_v2" ? 3 : graph_.name == "alexnet" ? 11 : 7;
  EXPECT_EQ(first.count, size(first.parameter.info.shape[0] * kernel * kernel * kInputChannels));
  EXPECT_EQ(last.parameter.role, ParameterRole::linear_weight);
  EXPECT_EQ(last.outputs, 16);
  EXPECT_EQ(last.count, 16 * size(last.parameter.info.shape[1]));
}

TEST(CudaParameterLayoutOfGroups, AnOutputHasWeightsForItsOwnChannelAlone) {
  const model::Graph graph = model::mobilenet_v2(224);
  const ParameterLayout layout(graph, lower(graph));
  const ParameterPlace& depthwise = layout.place("features.2.conv.1.0.weight");
  EXPECT_EQ(depthwise.parameter.info.shape, (std::vector<std::int64_t>{96, 1, 3, 3}));
  EXPECT_EQ(depthwise.inputs, 1);
  EXPECT_EQ(depthwise.count, 896u);  // 96 * 9, aligned.
}

// PyTorch flattens channel by channel, while the device stores pixel by pixel.
TEST(CudaParameterLayoutOfMaps, ALinearLayerSeesAMapInTheOrderOfTheDevice) {
  const model::Graph graph = model::alexnet(224);
  const ParameterLayout layout(graph, lower(graph));
  const ParameterPlace& place = layout.place("classifier.1.weight");
  EXPECT_EQ(place.inputs, 256);
  EXPECT_EQ(place.window, 36);
  std::vector<float> values(size(place.parameter.info.count()));
  values[size(5) * 9216 + 200 * 36 + 7] = 1;  // Output 5, channel 200, pixel 7.
  const std::vector<float> device = on_device(place, values);
  EXPECT_EQ(device[size(5) * 9216 + 7 * 256 + 200], 1);
  EXPECT_EQ(std::ranges::count(device, 1.0f), 1);
}

TEST_P(CudaParameterLayout, FindsAPlaceByItsLayerAndByItsName) {
  for (const ParameterPlace& place : layout_.places()) {
    EXPECT_EQ(&layout_.place(place.parameter.info.name), &place);
    EXPECT_EQ(&layout_.place(place.parameter.layer, place.parameter.role), &place);
  }
}

TEST_P(CudaParameterLayout, AnUnknownNameIsAnsweredWithTheNearest) {
  const std::string known = layout_.places().front().parameter.info.name;
  try {
    layout_.place(known + "x");
    ADD_FAILURE() << "found";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean '" + known + "'?"));
  }
  EXPECT_THROW(layout_.place(0, ParameterRole::bias), DeviceError);
}

TEST_P(CudaParameterLayout, RefusesTensorsOfAnotherSize) {
  const ParameterPlace& place = layout_.places().back();
  std::vector<float> values = numbered(place), device = on_device(place, values);
  values.push_back(0);
  EXPECT_THROW(to_device_order(place, values, device), SpecError);
  EXPECT_THROW(from_device_order(place, device, values), SpecError);
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaParameterLayout,
                         testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"),
                         ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
