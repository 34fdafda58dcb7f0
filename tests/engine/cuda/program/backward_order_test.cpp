#include "engine/cuda/program/backward_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;

// Tracks each channel's gradient through the steps: none is read before it is complete, and none is overwritten.
class GradientRun {
 public:
  explicit GradientRun(const Program& program) : program_(program) {
    for (const Buffer& buffer : program.buffers) states_.emplace_back(static_cast<std::size_t>(buffer.channels));
    for (const Node& node : program.nodes) {
      each(node.residual, [](Channel& channel) { ++channel.readers; });
      if (node.kind == NodeKind::statistics) continue;
      each(node.in, [](Channel& channel) { ++channel.readers; });
      if (node.kind == NodeKind::normalize) ++norms_[node.in.buffer];
    }
    each(program.logits, [](Channel& channel) { channel = {.readers = 1, .written = 1}; });
  }

  void run(const std::vector<BackwardStep>& steps) {
    for (const BackwardStep& step : steps) {
      SCOPED_TRACE("node " + std::to_string(step.node));
      run(program_.nodes[static_cast<std::size_t>(step.node)], step);
    }
  }

  // Checks all buffers except the images.
  void expect_complete() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (static_cast<int>(i) == program_.input.buffer) continue;
      for (const Channel& channel : states_[i]) {
        EXPECT_EQ(channel.written, channel.readers);
        EXPECT_TRUE(channel.used);
      }
    }
  }

 private:
  struct Channel {
    int readers = 0;       // In forward.
    int written = 0;       // How many of them wrote in backward.
    bool applied = false;  // The sums of a dense block's norms were turned into a gradient.
    bool used = false;
  };

  template <typename Visit>
  void each(const Slice& slice, const Visit& visit) {
    for (int c = 0; slice.exists() && c < slice.channels; ++c)
      visit(states_[static_cast<std::size_t>(slice.buffer)][static_cast<std::size_t>(slice.first_channel + c)]);
  }

  bool is_dense(const Slice& slice) const { return norms_.contains(slice.buffer) && norms_.at(slice.buffer) > 1; }

  void run(const Node& node, const BackwardStep& step) {
    if (node.kind == NodeKind::statistics) {
      EXPECT_TRUE(step.lazy);
      EXPECT_TRUE(is_dense(node.in));
      return apply(node.in);
    }
    if (node.kind == NodeKind::copy) apply(node.out);
    each(node.out, [&](Channel& channel) {
      EXPECT_EQ(channel.written, channel.readers);
      EXPECT_EQ(step.two, channel.readers >= 2 && !is_dense(node.out));
      EXPECT_EQ(channel.applied, is_dense(node.out));
      channel.used = true;
    });
    write(node.residual, step.residual, step);
    write(node.in, step.in, step);
  }

  void apply(const Slice& slice) {
    each(slice, [](Channel& channel) {
      EXPECT_EQ(channel.written, channel.readers);
      EXPECT_FALSE(channel.applied);
      channel.applied = true;
    });
  }

  void write(const Slice& slice, Target target, const BackwardStep& step) {
    if (!slice.exists() || slice.buffer == program_.input.buffer) {
      EXPECT_EQ(target, Target::none);
      return;
    }
    each(slice, [&](Channel& channel) {
      EXPECT_FALSE(channel.applied);
      if (step.lazy && is_dense(slice)) {
        EXPECT_EQ(target, Target::gradient);
        EXPECT_EQ(step.first, channel.written == 0);
      } else {
        EXPECT_EQ(target, channel.written == 0   ? Target::gradient
                          : channel.written == 1 ? Target::second
                                                 : Target::second_again);
      }
      ++channel.written;
    });
  }

  const Program& program_;
  std::vector<std::vector<Channel>> states_;  // Of each buffer.
  std::map<int, int> norms_;                  // Number of norms that read a buffer.
};

int count(const std::vector<BackwardStep>& steps, bool BackwardStep::*flag) {
  return static_cast<int>(std::ranges::count(steps, true, flag));
}

class CudaBackwardOrder : public testing::TestWithParam<const char*> {
 protected:
  const Program program_ = lower(model::make_network(GetParam(), 224), {.dropout = true});
  const std::vector<BackwardStep> steps_ = backward_order(program_);
};

TEST_P(CudaBackwardOrder, EachGradientIsWholeWhenItIsReadAndNoneIsWrittenOver) {
  GradientRun run(program_);
  run.run(steps_);
  run.expect_complete();
}

TEST_P(CudaBackwardOrder, EachNodeThatComputesHasItsStepLastToFirst) {
  EXPECT_TRUE(std::ranges::is_sorted(steps_, std::ranges::greater{}, &BackwardStep::node));
  std::vector<int> computing, expected;
  for (const BackwardStep& step : steps_) {
    if (program_.nodes[static_cast<std::size_t>(step.node)].kind != NodeKind::statistics)
      computing.push_back(step.node);
  }
  for (int i = static_cast<int>(program_.nodes.size()) - 1; i >= 0; --i) {
    if (program_.nodes[static_cast<std::size_t>(i)].kind != NodeKind::statistics) expected.push_back(i);
  }
  EXPECT_EQ(computing, expected);
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaBackwardOrder,
                         testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"),
                         ParamName());

// A block reads x in its convolution and as its residual; backward reaches the residual first.
TEST(BackwardOrder, TheResidualWritesTheGradientAndTheBlockBesideIt) {
  model::GraphBuilder net("tiny", 32);
  const int x = net.relu(net.batch_norm(net.convolution(net.input(), "a", 8, {}), "an"));
  const int y = net.relu(net.add(net.batch_norm(net.convolution(x, "b", 8, {}), "bn"), x));
  net.linear(net.global_average_pool(y), "fc", 14);
  const Program program = lower(net.finish());
  std::map<NodeKind, std::vector<BackwardStep>> steps;
  for (const BackwardStep& step : backward_order(program))
    steps[program.nodes[static_cast<std::size_t>(step.node)].kind].push_back(step);

  const std::vector<BackwardStep>&norms = steps[NodeKind::normalize], &convolutions = steps[NodeKind::convolution];
  ASSERT_EQ(norms.size(), 2u);
  ASSERT_EQ(convolutions.size(), 2u);
  EXPECT_EQ(norms[0].residual, Target::gradient);
  EXPECT_EQ(norms[0].in, Target::gradient);
  EXPECT_FALSE(norms[0].two);
  EXPECT_EQ(convolutions[0].in, Target::second);
  EXPECT_TRUE(norms[1].two);
  EXPECT_EQ(norms[1].residual, Target::none);
  EXPECT_EQ(convolutions[1].in, Target::none);  // Images have no gradient.
  EXPECT_TRUE(steps[NodeKind::statistics].empty());
}

// 58 dense layers, three transitions and the last norm read dense blocks. Each map of a block, and the block's input,
// is completed separately.
TEST(BackwardOrder, OfDensenetAddsToTheBlocksInPlace) {
  const Program program = lower(model::densenet121(224));
  const std::vector<BackwardStep> steps = backward_order(program);
  int norms = 0, statistics = 0;
  for (const BackwardStep& step : steps) {
    if (!step.lazy) continue;
    const NodeKind kind = program.nodes[static_cast<std::size_t>(step.node)].kind;
    norms += kind == NodeKind::normalize;
    statistics += kind == NodeKind::statistics;
  }
  EXPECT_EQ(norms, 58 + 3 + 1);
  EXPECT_EQ(statistics, 58 + 4);
  EXPECT_EQ(count(steps, &BackwardStep::first), 4);
  EXPECT_EQ(count(steps, &BackwardStep::two), 0);
}

// The copies into the blocks turn the sums into gradients, and write them where the packed outputs have theirs. The
// inputs of the blocks are left to statistics.
TEST(BackwardOrder, OfPackedDenseLayersReadsTheBlocksAtTheCopies) {
  const Program program = with_packed_outputs(lower(model::densenet121(224)), [](const Node&) { return true; });
  const std::vector<BackwardStep> steps = backward_order(program);
  GradientRun run(program);
  run.run(steps);
  run.expect_complete();
  int copies = 0, statistics = 0;
  for (const BackwardStep& step : steps) {
    const NodeKind kind = program.nodes[static_cast<std::size_t>(step.node)].kind;
    copies += kind == NodeKind::copy && step.lazy && step.in == Target::gradient;
    statistics += kind == NodeKind::statistics;
  }
  EXPECT_EQ(copies, 58);
  EXPECT_EQ(statistics, 4);
}

TEST(BackwardOrder, FrozenNormsLeaveNothingToStatistics) {
  const Program program = lower(model::densenet121(224), {.frozen = true});
  const std::vector<BackwardStep> steps = backward_order(program);
  EXPECT_EQ(steps.size(), program.nodes.size());
  EXPECT_EQ(count(steps, &BackwardStep::lazy), 62);
}

// A dense block of two maps: a convolution of the images writes the first, another one appends the second; one norm
// reads the first map and one reads both.
Program dense_block() {
  Program program;
  program.buffers = {{.channels = 4}, {.channels = 16}, {.channels = 8}, {.channels = 16}, {.channels = 8}};
  const Slice images{0, 0, 4}, begin{1, 0, 8}, end{1, 8, 8}, whole{1, 0, 16};
  const Slice normed{2, 0, 8}, out{3, 0, 16};
  program.input = images;
  program.logits = {4, 0, 8};
  program.nodes = {{.kind = NodeKind::convolution, .in = images, .out = begin},
                   {.kind = NodeKind::normalize, .in = begin, .out = normed},
                   {.kind = NodeKind::convolution, .in = normed, .out = end},
                   {.kind = NodeKind::normalize, .in = whole, .out = out},
                   {.kind = NodeKind::linear, .in = out, .out = program.logits}};
  return program;
}

// Two convolutions write halves of a concatenation that three layers read, the last of them partially.
Program concatenation(int channels_of_last) {
  Program program;
  program.buffers = {{.channels = 4}, {.channels = 16}, {.channels = 8}, {.channels = 8}, {.channels = 24}};
  const Slice images{0, 0, 4}, whole{1, 0, 16};
  program.input = images;
  program.logits = {4, 0, 8};
  program.nodes = {{.kind = NodeKind::convolution, .in = images, .out = {1, 0, 8}},
                   {.kind = NodeKind::convolution, .in = images, .out = {1, 8, 8}},
                   {.kind = NodeKind::convolution, .in = whole, .out = {2, 0, 8}},
                   {.kind = NodeKind::convolution, .in = whole, .out = {3, 0, 8}},
                   {.kind = NodeKind::linear, .in = {1, 0, channels_of_last}, .out = program.logits}};
  return program;
}

std::string refusal(const Program& program) {
  try {
    backward_order(program);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "ordered";
}

TEST(BackwardOrder, RefusesPartsOfAConcatenationThatSeveralLayersRead) {
  EXPECT_EQ(refusal(concatenation(16)), "ordered");
  EXPECT_THAT(refusal(concatenation(8)), HasSubstr("several layers read in parts"));
}

TEST(BackwardOrder, RefusesDenseBlocksThatItCannotCompute) {
  EXPECT_EQ(refusal(dense_block()), "ordered");
  const auto insert = [](Program& program, int at, const Node& node) {
    program.buffers.push_back({.channels = node.out.channels});
    program.nodes.insert(program.nodes.begin() + at, node);
  };
  const Slice whole{5, 0, 16}, half{5, 0, 8};
  struct Refused {
    const char* what;
    std::function<void(Program&)> change;
    const char* reason;
  };
  for (const Refused& each : {
           Refused{"a norm shares its input with another layer",
                   [&](Program& program) {
                     insert(program, 3, {.kind = NodeKind::max_pool, .in = {1, 0, 8}, .out = half});
                   },
                   "share their input with other layers"},
           Refused{"a copy to anything but a dense block",
                   [&](Program& program) {
                     insert(program, 4, {.kind = NodeKind::copy, .in = {3, 0, 16}, .out = whole});
                     program.nodes.back().in = whole;
                   },
                   "a copy to anything but a dense block"},
           Refused{"it is a residual, too",
                   [&](Program& program) {
                     insert(program, 4,
                            {.kind = NodeKind::normalize, .in = {3, 0, 16}, .out = whole, .residual = {1, 0, 16}});
                     program.nodes.back().in = whole;
                   },
                   "share their input with other layers"},
           Refused{"its last norm reads a part of it", [](Program& program) { program.nodes[3].in.channels = 8; },
                   "this kind of dense block"},
           Refused{"it is normalized with a residual",
                   [](Program& program) {
                     program.nodes[1].residual = {0, 0, 4};
                   },
                   "this kind of dense block"},
           Refused{"a norm has two readers",
                   [&](Program& program) {
                     insert(program, 3, {.kind = NodeKind::convolution, .in = {2, 0, 8}, .out = half});
                   },
                   "this kind of dense block"},
       }) {
    Program program = dense_block();
    each.change(program);
    EXPECT_THAT(refusal(program), HasSubstr(each.reason)) << each.what;
  }
}

TEST(BackwardOrder, RefusesADenseBlockWithAPoolWhereOthersHaveAddedTheirGradients) {
  Program program = dense_block();
  program.nodes[3].pool = {NodeKind::average_pool, 0};
  EXPECT_EQ(refusal(program), "ordered");
  program.nodes[1].pool = {NodeKind::average_pool, 0};
  EXPECT_THAT(refusal(program), HasSubstr("this kind of dense block"));
}

}  // namespace
}  // namespace chexbench::engine::cuda
