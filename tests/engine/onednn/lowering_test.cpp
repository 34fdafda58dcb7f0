// Tests which ops the layers of a graph become.
#include "engine/onednn/lowering.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "core/errors.hpp"
#include "engine/onednn/activation_op.hpp"
#include "engine/onednn/convolution_op.hpp"
#include "engine/onednn/linear_op.hpp"
#include "engine/onednn/network.hpp"
#include "engine/onednn/norm_ops.hpp"
#include "engine/onednn/pool_ops.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::onednn {
namespace {

using model::GraphBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

const Device& device() {
  static const Device device = make_device(spec::Precision::f32);
  return device;
}

class LoweringTest : public testing::Test {
 protected:
  void lower_graph(const model::Graph& graph) {
    lowered_ = lower(device(), graph, {.images = 2}, mode_, planner_, scratchpad_);
  }
  template <typename T>
  int count() const {
    int found = 0;
    for (const auto& op : lowered_.ops) found += dynamic_cast<const T*>(op.get()) != nullptr ? 1 : 0;
    return found;
  }

  const PassMode mode_;
  Planner planner_{device()};
  Tensor& scratchpad_ = planner_.bytes(0);
  Lowered lowered_;
};

// The 49 ReLUs and 16 adds are part of norms.
TEST_F(LoweringTest, ResNet50LosesItsActivationsAndAddsToItsNorms) {
  lower_graph(model::resnet50(64));
  EXPECT_EQ(count<ConvolutionOp>(), 53);
  EXPECT_EQ(count<NormOp>(), 53);
  EXPECT_EQ(count<PoolOp>(), 1);
  EXPECT_EQ(count<GlobalAverageOp>(), 1);
  EXPECT_EQ(count<LinearOp>(), 1);
  EXPECT_EQ(lowered_.ops.size(), 53u + 53 + 3);
  EXPECT_TRUE(lowered_.shared.empty());
}

// 58 dense layers and 4 block inputs are each written once; the norms that read a block are the first ones of the dense
// layers, those of the three transitions and the last one.
TEST_F(LoweringTest, DenseNet121WritesEveryMapOnceAndConcatenatesNothing) {
  lower_graph(model::densenet121(64));
  EXPECT_EQ(count<ConvolutionOp>(), 120);
  EXPECT_EQ(count<DenseWriteOp>(), 58 + 4);
  EXPECT_EQ(count<DenseNormOp>(), 58 + 3 + 1);
  EXPECT_EQ(count<NormOp>(), 1 + 58);
  EXPECT_EQ(count<PoolOp>(), 1 + 3);
  EXPECT_EQ(lowered_.ops.size(), 120u + 62 + 62 + 59 + 4 + 2);
}

TEST_F(LoweringTest, DenseNet121KeepsEachBlockInOneTensor) {
  lower_graph(model::densenet121(64));
  std::vector<int> channels, sizes;
  for (const auto& shared : lowered_.shared) {
    const TensorShape& shape = static_cast<const DenseBlock*>(shared.get())->features.shape;
    channels.push_back(shape.channels);
    sizes.push_back(shape.height);
  }
  EXPECT_THAT(channels, ElementsAre(1024, 1024, 512, 256));
  EXPECT_THAT(sizes, ElementsAre(2, 4, 8, 16));
}

// Every concat is one tensor that four norms write, and every ReLU is part of a norm.
TEST_F(LoweringTest, GoogLeNetConcatenatesByWritingIntoOneTensor) {
  lower_graph(model::googlenet(64));
  EXPECT_EQ(count<ConvolutionOp>(), 57);
  EXPECT_EQ(count<NormOp>(), 57);
  EXPECT_EQ(count<PoolOp>(), 4 + 9);
  EXPECT_EQ(lowered_.ops.size(), 57u + 57 + 13 + 2);
}

// Ten of the norms have a residual add; none of the 35 ReLU6 is a separate op.
TEST_F(LoweringTest, MobileNetV2LosesItsActivationsAndAddsToItsNorms) {
  lower_graph(model::mobilenet_v2(64));
  EXPECT_EQ(count<ConvolutionOp>(), 52);
  EXPECT_EQ(count<NormOp>(), 52);
  EXPECT_EQ(lowered_.ops.size(), 52u + 52 + 2);
}

// Of its seven ReLUs, two are between convolutions, two follow linear layers, and three are moved after their pools.
TEST_F(LoweringTest, AlexNetActivatesBehindItsPools) {
  lower_graph(model::alexnet(64));
  EXPECT_EQ(count<ConvolutionOp>(), 5);
  EXPECT_EQ(count<PoolOp>(), 3);
  EXPECT_EQ(count<ActivationOp>(), 7);
  EXPECT_EQ(count<FlattenOp>(), 1);
  EXPECT_EQ(count<LinearOp>(), 3);
  EXPECT_EQ(lowered_.ops.size(), 5u + 3 + 7 + 1 + 3);
  int activated_pools = 0;
  for (std::size_t i = 0; i + 1 < lowered_.ops.size(); ++i) {
    activated_pools += dynamic_cast<const PoolOp*>(lowered_.ops[i].get()) != nullptr &&
                       dynamic_cast<const ActivationOp*>(lowered_.ops[i + 1].get()) != nullptr;
  }
  EXPECT_EQ(activated_pools, 3);
}

TEST_F(LoweringTest, DropoutIsAnOpOnlyWhereItIsWanted) {
  for (const auto& [dropout, expected] : {std::pair{false, 0}, {true, 2}}) {
    lowered_ = lower(device(), model::alexnet(64), {.images = 2, .dropout = dropout}, mode_, planner_, scratchpad_);
    EXPECT_EQ(count<DropoutOp>(), expected);
  }
}

TEST_F(LoweringTest, NetworksKeepTheParametersAndBuffersOfTheirGraphs) {
  for (const std::string& name : model::network_names()) {
    const model::Graph graph = model::make_network(name, 64);
    const Network network(device(), graph, 1, false);
    std::map<std::string, std::vector<std::int64_t>> expected, found;
    for (const model::Parameter& parameter : model::parameters(graph)) {
      expected[parameter.info.name] = parameter.info.shape;
    }
    for (const auto& slot : network.store().slots()) found[slot->info.name] = slot->info.shape;
    EXPECT_EQ(found, expected);
    EXPECT_EQ(network.store().slots().size(), expected.size());
    EXPECT_EQ(network.store().slots().front()->info, model::backward_parameters(graph).front().info);
    EXPECT_EQ(network.store().slots().back()->info, model::backward_parameters(graph).back().info);
    std::vector<model::TensorInfo> buffers;
    for (const BufferSlot& buffer : network.buffers()) buffers.push_back(buffer.info);
    EXPECT_THAT(buffers, testing::UnorderedElementsAreArray(model::buffers(graph))) << name;
  }
}

// Returns the logit of a network whose norm outputs `bias` everywhere and whose last layer averages the output of
// `finish`.
template <typename Finish>
float logit_of(float bias, const Finish& finish) {
  GraphBuilder net("tiny", 32);
  const int norm = net.batch_norm(net.convolution(net.input(), "conv", 16, {.kernel = 3, .stride = 2}), "bn");
  net.linear(net.global_average_pool(finish(net, norm)), "fc", 14);
  Network network(device(), net.finish(), 2, false);
  std::fill(network.store().weights().begin(), network.store().weights().end(), 0.0f);
  std::fill_n(network.store().slot("bn.bias").weights, 16, bias);
  std::fill_n(network.store().slot("fc.weight").weights, 14 * 16, 1.0f / 16);
  network.refresh_weights();
  std::memset(network.input().data, 0, network.input().bytes);
  network.forward();
  return reinterpret_cast<const float*>(network.logits().data)[0];
}

TEST(Lowering, GivesEveryActivationItsClamp) {
  const auto relu = [](GraphBuilder& net, int x) { return net.relu(x); };
  const auto relu6 = [](GraphBuilder& net, int x) { return net.relu6(x); };
  const auto none = [](GraphBuilder&, int x) { return x; };
  EXPECT_FLOAT_EQ(logit_of(7, relu), 7);
  EXPECT_FLOAT_EQ(logit_of(-7, relu), 0);
  EXPECT_FLOAT_EQ(logit_of(7, relu6), 6);
  EXPECT_FLOAT_EQ(logit_of(-7, relu6), 0);
  EXPECT_FLOAT_EQ(logit_of(-7, none), -7);
}

// A norm and its ReLU give x; then x and bn2(conv(x)), which is 0, are added in either order.
TEST(Lowering, AddsTheShortcutOnWhicheverSideItStands) {
  for (const bool left : {true, false}) {
    const auto shortcut = [left](GraphBuilder& net, int norm) {
      const int x = net.relu(norm);
      const int added = net.batch_norm(net.convolution(x, "conv2", 16, {}), "bn2");
      return net.relu(left ? net.add(x, added) : net.add(added, x));
    };
    EXPECT_FLOAT_EQ(logit_of(3, shortcut), 3);
  }
}

struct Refusal {
  std::string name;
  std::string reason;
  int (*build)(GraphBuilder& net, int x);  // x: a norm's output
};

class LoweringRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(LoweringRefusal, NamesTheLayerTheNetworkAndTheReason) {
  GraphBuilder net("tiny", 32);
  const int stem = net.convolution(net.input(), "stem", 16, {.kernel = 3, .padding = 1});
  const int x = GetParam().build(net, net.relu(net.batch_norm(stem, "bn")));
  net.linear(net.global_average_pool(x), "fc", 14);
  try {
    Network(device(), net.finish(), 2, false, 1);
    FAIL() << "accepted";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("of tiny"));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().reason));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, LoweringRefusal,
    testing::Values(Refusal{"Channels", "('') of tiny: channels that don't fill a vector",
                            [](GraphBuilder& net, int x) { return net.convolution(x, "odd", 20, {}); }},
                    Refusal{"Groups", "('odd') of tiny: groups of more than one channel",
                            [](GraphBuilder& net, int x) { return net.convolution(x, "odd", 16, {}, 2); }},
                    Refusal{"DepthwiseChannels", "('depthwise') of tiny: channels that don't fill a vector",
                            [](GraphBuilder& net, int x) {
                              return net.convolution(net.convolution(x, "odd", 20, {}), "depthwise", 20, {}, 20);
                            }},
                    Refusal{"MapThatFillsNoVector", "('odd') of tiny: channels that don't fill a vector",
                            [](GraphBuilder& net, int x) {
                              return net.batch_norm(net.concat({x, net.convolution(x, "odd", 20, {})}), "both");
                            }},
                    Refusal{"BarePool", "an adaptive average pool that is not flattened",
                            [](GraphBuilder& net, int x) { return net.adaptive_average_pool(x, 4); }},
                    Refusal{"DropoutOfMaps", "dropout of feature maps",
                            [](GraphBuilder& net, int x) { return net.dropout(x, 0.5); }},
                    Refusal{"DropoutOfClampedValues", "dropout right behind a ReLU6",
                            [](GraphBuilder& net, int x) {
                              const int hidden = net.linear(net.flatten(x), "hidden", 16);
                              return net.dropout(net.relu6(hidden), 0.5);
                            }},
                    Refusal{"SharedActivation", "it changes in place what several layers read",
                            [](GraphBuilder& net, int x) {
                              const int hidden = net.linear(net.flatten(x), "hidden", 16);
                              net.relu(hidden);
                              return net.linear(hidden, "other", 16);
                            }},
                    Refusal{"SharedConvolution", "('shared') of tiny: a convolution that several layers read",
                            [](GraphBuilder& net, int x) {
                              const int shared = net.convolution(x, "shared", 16, {});
                              return net.add(net.batch_norm(shared, "left"), net.batch_norm(shared, "right"));
                            }},
                    Refusal{"ConvolutionOfAConcat", "('odd') of tiny: it reads a concatenation",
                            [](GraphBuilder& net, int x) {
                              const int map = net.convolution(x, "map", 16, {});
                              return net.convolution(net.concat({x, map}), "odd", 16, {});
                            }},
                    Refusal{"BareActivation", "an activation must follow a norm",
                            [](GraphBuilder& net, int x) { return net.relu(net.max_pool(x, {})); }},
                    Refusal{"SharedNorm", "an activation must follow a norm",
                            [](GraphBuilder& net, int x) {
                              const int norm = net.batch_norm(net.convolution(x, "conv", 16, {}), "norm");
                              return net.add(net.relu(norm), norm);
                            }},
                    Refusal{"BareAdd", "an add without a batch norm before it",
                            [](GraphBuilder& net, int x) { return net.add(x, net.convolution(x, "conv", 16, {})); }},
                    Refusal{"LaterMap", "('norm') of tiny: a norm over channels that don't begin their block",
                            [](GraphBuilder& net, int x) {
                              const int second = net.convolution(x, "second", 16, {});
                              const int both = net.batch_norm(net.concat({x, second}), "both");
                              net.batch_norm(second, "norm");
                              return both;
                            }}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace chexbench::engine::onednn
