#include "engine/cuda/convolution/conv_shape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

std::vector<ConvShape> shapes_of(const std::string& name) {
  const model::Graph graph = model::make_network(name, 224);
  return conv_shapes(graph, lower(graph), 64);
}

TEST(ConvShapes, Resnet50HasTwentyThree) { EXPECT_EQ(shapes_of("resnet50").size(), 23u); }

// 58 dense layers read 58 different widths; the layers of a block write in the same way.
TEST(ConvShapes, Densenet121HasEveryWidthOfItsLayers) {
  std::set<std::pair<int, int>> widths;
  for (const ConvShape& shape : shapes_of("densenet121")) {
    if (shape.kernel == 1 && shape.out_channels == 128) widths.insert({shape.in_channels, shape.height});
  }
  EXPECT_EQ(widths.size(), 58u);
}

TEST(ConvShapes, WritingOneMapOfADenseBlockIsStrided) {
  const std::vector<ConvShape> shapes = shapes_of("densenet121");
  const auto map = std::ranges::find_if(shapes, [](const ConvShape& s) { return s.kernel == 3; });
  ASSERT_NE(map, shapes.end());
  EXPECT_EQ(map->out_channels, 32);
  EXPECT_EQ(map->out_pixel_stride, 256);
  EXPECT_FALSE(map->packed());
  EXPECT_EQ(map->text(), "n64 128x56x56 -> 32/256 k3 s1");
}

TEST(ConvShapes, DepthwiseOnesHaveAsManyGroupsAsChannels) {
  int depthwise = 0;
  for (const ConvShape& shape : shapes_of("mobilenet_v2")) {
    if (shape.kernel == 1 || shape.reads_images) {
      EXPECT_EQ(shape.groups, 1) << shape.text();
      continue;
    }
    ++depthwise;
    EXPECT_EQ(shape.groups, shape.in_channels);
    EXPECT_EQ(shape.group_channels(), 1);
    EXPECT_EQ(shape.group_outputs(), 1);
    EXPECT_TRUE(shape.text().ends_with(" g" + std::to_string(shape.groups))) << shape.text();
    EXPECT_EQ(shape.flops(), 2.0 * 9 * 64 * shape.out_height() * shape.out_width() * shape.out_channels);
  }
  EXPECT_EQ(depthwise, 10);
}

// Pools moved before their convolutions save work; the padded channel of the images adds some.
TEST(ConvShapes, FlopsAreThoseOfTheNetworkButForPaddingAndPools) {
  const auto total = [](const std::string& name) {
    const model::Graph graph = model::make_network(name, 224);
    const Program program = lower(graph);
    double flops = 0;
    for (const Node& node : program.nodes) {
      if (node.kind == NodeKind::convolution) flops += conv_shape(graph, program, node, 1).flops();
    }
    return flops / model::forward_flops(graph);
  };
  EXPECT_NEAR(total("resnet50"), 1.0 + 0.236e9 / 3 / 8.18e9, 2e-3);
  EXPECT_LT(total("densenet121"), 1.0);
  EXPECT_NEAR(total("mobilenet_v2"), 1.0 + 0.0217e9 / 3 / 0.6e9, 2e-3);
}

TEST(ConvPatterns, PlainOnesAreWantedForEveryShapeButTheGradientOfImages) {
  for (const std::string name : {"resnet50", "densenet121", "mobilenet_v2"}) {
    for (const ConvShape& shape : shapes_of(name)) {
      for (const Precision precision : {Precision::f32, Precision::tf32, Precision::fp16, Precision::bf16}) {
        EXPECT_TRUE(wanted(ConvPattern::forward, shape, precision));
        EXPECT_TRUE(wanted(ConvPattern::weight_gradient, shape, precision));
        EXPECT_EQ(wanted(ConvPattern::data_gradient, shape, precision), shape.in_channels != kInputChannels);
      }
    }
  }
}

TEST(ConvPatterns, FusedOnesAreForHalfPrecisionBehindTheStem) {
  for (const ConvShape& shape : shapes_of("resnet50")) {
    for (const ConvPattern pattern : conv_patterns()) {
      if (!is_fused(pattern)) continue;
      EXPECT_FALSE(wanted(pattern, shape, Precision::f32)) << to_string(pattern);
      EXPECT_FALSE(wanted(pattern, shape, Precision::bf16)) << to_string(pattern);
      EXPECT_FALSE(shape.reads_images && wanted(pattern, shape, Precision::fp16)) << to_string(pattern);
    }
    EXPECT_EQ(wanted(ConvPattern::forward_statistics, shape, Precision::fp16), !shape.reads_images);
  }
}

TEST(ConvPatterns, FusedOnesAreForOneGroup) {
  for (const ConvShape& shape : shapes_of("mobilenet_v2")) {
    EXPECT_EQ(wanted(ConvPattern::forward_statistics, shape, Precision::fp16), shape.groups == 1 && !shape.reads_images)
        << shape.text();
  }
}

TEST(ConvPatterns, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const ConvPattern pattern : conv_patterns()) names.insert(to_string(pattern));
  EXPECT_EQ(names.size(), conv_patterns().size());
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace chexbench::engine::cuda
