#include "model/parameters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "model/networks.hpp"
#include "spec/golden.hpp"

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

// The golden file lists the parameters as torchvision's named_parameters() does.
TEST_P(Network, HasItsParametersInTheOrderOfTorchvision) {
  std::ostringstream golden;
  golden << std::ifstream(std::string(CHEXBENCH_GOLDEN) + "/" + GetParam() + ".json").rdbuf();
  std::size_t last = golden.str().find("\"gradients\"");
  for (const Parameter& parameter : parameters(graph_)) {
    const std::size_t place = golden.str().find("\"" + parameter.info.name + "\":", last);
    ASSERT_NE(place, std::string::npos) << parameter.info.name << " stands before the parameter that it follows here";
    last = place;
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

INSTANTIATE_TEST_SUITE_P(All, Network, testing::ValuesIn(network_names().begin(), network_names().end()),
                         [](const auto& instance) { return instance.param; });

// torchvision's model pages publish billions of multiply-adds, with 1000 classes.
TEST(ForwardFlops, AgreeWithPublishedFigures) {
  EXPECT_NEAR(forward_flops(resnet50(224)) / 2e9, 4.09, 0.02);
  EXPECT_NEAR(forward_flops(densenet121(224)) / 2e9, 2.83, 0.05);
  EXPECT_NEAR(forward_flops(alexnet(224)) / 2e9, 0.71, 0.005);
  EXPECT_NEAR(forward_flops(googlenet(224)) / 2e9, 1.50, 0.005);
  EXPECT_NEAR(forward_flops(mobilenet_v2(224)) / 2e9, 0.30, 0.005);
}

TEST(ForwardFlops, OfAGroupedConvolutionCountItsGroupAlone) {
  GraphBuilder net("tiny", 32);
  const int wide = net.convolution(net.input(), "wide", 8, {});
  const int depthwise = net.convolution(wide, "depthwise", 8, {.kernel = 3, .padding = 1}, 8);
  EXPECT_EQ(forward_flops(net.finish(), depthwise), 2.0 * 8 * 9 * 32 * 32);
}

TEST(ForwardFlops, OfALayerCountMultiplyAndAdd) {
  GraphBuilder net("tiny", 32);
  const int layer = net.convolution(net.input(), "conv", 4, {.kernel = 3, .stride = 2, .padding = 1});
  EXPECT_EQ(forward_flops(net.finish(), layer), 2.0 * 4 * 3 * 9 * 16 * 16);
}

}  // namespace
}  // namespace chexbench::model
