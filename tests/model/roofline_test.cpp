#include "model/roofline.hpp"

#include <gtest/gtest.h>

#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::model {
namespace {

constexpr int kPixels = 32 * 32;

TEST(Roofline, IsTheSlowerOfArithmeticAndMemory) {
  const Roofs roofs{.flops_per_s = 100, .bytes_per_s = 10};
  EXPECT_DOUBLE_EQ((Work{.flops = 50, .bytes = 1}.seconds(roofs)), 0.5);
  EXPECT_DOUBLE_EQ((Work{.flops = 50, .bytes = 20}.seconds(roofs)), 2);
  EXPECT_FALSE((Work{.flops = 50, .bytes = 1}.memory_bound(roofs)));
  EXPECT_TRUE((Work{.flops = 50, .bytes = 20}.memory_bound(roofs)));
}

TEST(Roofline, AConvolutionTouchesInputOutputAndWeightsThreeTimes) {
  GraphBuilder net("tiny", 32);
  net.convolution(net.input(), "conv", 8, {.kernel = 3, .padding = 1});
  const std::vector<Work> work = training_work(net.finish(), 5, 4);
  ASSERT_EQ(work.size(), 2u);
  EXPECT_EQ(work[0].bytes, 0);
  const double weights = 8 * 3 * 9;
  EXPECT_DOUBLE_EQ(work[1].bytes, 4 * 3 * (5 * (3 + 8) * kPixels + weights));
  EXPECT_DOUBLE_EQ(work[1].flops, 3 * 5 * 2 * weights * kPixels);
}

TEST(Roofline, ATensorThatTwoLayersReadGetsTheSumOfTwoGradients) {
  GraphBuilder net("tiny", 32);
  const int x = net.relu(net.input());
  net.add(net.relu(x), x);
  const std::vector<Work> work = training_work(net.finish(), 1, 2);
  const double tensor = 2.0 * 3 * kPixels;
  EXPECT_DOUBLE_EQ(work[1].bytes, (2 + 3 + 3) * tensor);
  EXPECT_DOUBLE_EQ(work[2].bytes, (2 + 3) * tensor);
  EXPECT_DOUBLE_EQ(work[3].bytes, (2 + 1) * tensor);
}

TEST(Roofline, WorkOfImagesGrowsWithTheBatchAndThatOfWeightsDoesNot) {
  const Graph graph = alexnet(224);
  const Roofs memory_only{.flops_per_s = 1e30, .bytes_per_s = 1};
  const double one = roofline_s(graph, 1, 4, memory_only);
  const double two = roofline_s(graph, 2, 4, memory_only);
  const double weights = 4.0 * static_cast<double>(parameter_count(graph));
  EXPECT_DOUBLE_EQ(update_work(graph).bytes, 5 * weights);
  EXPECT_NEAR(2 * one - two, 3 * weights, 1e-6 * weights);
}

TEST(Roofline, HalvedValuesMoveHalfTheBytes) {
  const Graph graph = mobilenet_v2(224);
  const Roofs memory_only{.flops_per_s = 1e30, .bytes_per_s = 1};
  EXPECT_DOUBLE_EQ(roofline_s(graph, 8, 2, memory_only), roofline_s(graph, 8, 4, memory_only) / 2);
}

// A device whose memory never limits it needs the FLOPs of training, three times those of forward.
TEST(Roofline, OfAllNetworksIsAtLeastTheirArithmetic) {
  for (const std::string& name : network_names()) {
    const Graph graph = make_network(name, 224);
    const double flops = 3 * 16 * forward_flops(graph);
    EXPECT_NEAR(roofline_s(graph, 16, 4, {.flops_per_s = 1, .bytes_per_s = 1e30}), flops, 1e-9 * flops) << name;
    EXPECT_GT(roofline_s(graph, 16, 4, {.flops_per_s = 1e12, .bytes_per_s = 1e10}), 1e-12 * flops) << name;
  }
}

}  // namespace
}  // namespace chexbench::model
