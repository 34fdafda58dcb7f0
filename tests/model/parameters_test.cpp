#include "model/parameters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "model/networks.hpp"
#include "spec/golden_engine.hpp"

namespace chexbench::model {
namespace {

class Network : public testing::TestWithParam<std::string> {
 protected:
  const Graph graph_ = make_network(GetParam(), 224);
};

TEST_P(Network, HasTheParametersOfTorchvision) {
  const auto golden = spec::load_engine_golden(std::string(CHEXBENCH_GOLDEN) + "/" + GetParam() + ".json");
  EXPECT_EQ(parameter_count(graph_), golden.parameters);
  const auto all = parameters(graph_);
  EXPECT_EQ(all.size(), golden.gradients.size());
  for (const Parameter& parameter : all) {
    ASSERT_TRUE(golden.gradients.contains(parameter.info.name)) << parameter.info.name;
    EXPECT_EQ(parameter.info.shape, golden.gradients.at(parameter.info.name).shape) << parameter.info.name;
  }
}

TEST_P(Network, HasTheBuffersOfTorchvision) {
  const auto golden = spec::load_engine_golden(std::string(CHEXBENCH_GOLDEN) + "/" + GetParam() + ".json");
  const auto all = buffers(graph_);
  EXPECT_EQ(all.size(), golden.buffers.size());
  for (const TensorInfo& info : all) EXPECT_TRUE(golden.buffers.contains(info.name)) << info.name;
}

TEST_P(Network, BackwardOrderHoldsTheSameParametersFromTheLastLayerOn) {
  const auto backward = backward_parameters(graph_);
  std::set<std::string> forward_names, backward_names;
  for (const Parameter& parameter : parameters(graph_)) forward_names.insert(parameter.info.name);
  for (const Parameter& parameter : backward) backward_names.insert(parameter.info.name);
  EXPECT_EQ(forward_names, backward_names);
  EXPECT_TRUE(std::is_sorted(backward.begin(), backward.end(),
                             [](const Parameter& a, const Parameter& b) { return a.layer > b.layer; }));
  EXPECT_EQ(backward.front().role, ParameterRole::linear_weight);
}

TEST_P(Network, BackwardEndsWithTheFirstLayer) {
  const std::vector<double> share = backward_ready_share(graph_);
  EXPECT_TRUE(std::is_sorted(share.rbegin(), share.rend()));
  EXPECT_DOUBLE_EQ(share.front(), 1.0);
  EXPECT_LT(share.back(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, Network, testing::Values("resnet50", "densenet121"),
                         [](const auto& instance) { return instance.param; });

// Published: 4.1 and 2.9 billion multiply-adds (torchvision's model pages), with 1000 classes.
TEST(ForwardFlops, AgreeWithPublishedFigures) {
  EXPECT_NEAR(forward_flops(resnet50(224)) / 2e9, 4.09, 0.02);
  EXPECT_NEAR(forward_flops(densenet121(224)) / 2e9, 2.83, 0.05);
}

TEST(ForwardFlops, OfALayerCountMultiplyAndAdd) {
  GraphBuilder net("tiny", 32);
  const int layer = net.convolution(net.input(), "conv", 4, {.kernel = 3, .stride = 2, .padding = 1});
  EXPECT_EQ(forward_flops(net.finish(), layer), 2.0 * 4 * 3 * 9 * 16 * 16);
}

}  // namespace
}  // namespace chexbench::model
