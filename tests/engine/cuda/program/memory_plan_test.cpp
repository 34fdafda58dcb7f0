#include "engine/cuda/program/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "engine/cuda/program/conv_fusions.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;

constexpr MemoryRequest kPlanned{.images = 8, .precision = spec::Precision::fp16};

// Replays a step's reads and writes over the planned memory, in the order of the engine's kernels. A write invalidates
// everything else in the same bytes, and nothing invalid may be read.
class MemoryRun {
 public:
  MemoryRun(const Program& program, const MemoryPlan& plan, int images) : program_(program), plan_(plan) {
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
      const Buffer& b = program.buffers[i];
      const std::size_t elements = static_cast<std::size_t>(b.channels * b.height * b.width * images);
      add({Kind::activation, i}, plan.activations[i], 2 * elements, plan.arena_bytes());
      add({Kind::gradient, i}, plan.gradients[i], 2 * elements, plan.arena_bytes());
      add({Kind::second_gradient, i}, plan.second_gradients[i], 2 * elements, plan.arena_bytes());
    }
    for (std::size_t i = 0; i < program.nodes.size(); ++i) {
      if (plan.winners[i] == kNoMemory) continue;
      const Slice& out = program.nodes[i].out;
      const Buffer& b = program.buffer(out);
      add({Kind::winners, i}, plan.winners[i], static_cast<std::size_t>(out.channels * b.height * b.width * images),
          plan.arena_bytes());
    }
  }

  // Runs forward only, until the logits are read.
  void evaluate() {
    write(activation(program_.input));
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) forward(i);
    read(activation(program_.logits));
  }
  void step() {
    evaluate();
    write(gradient(program_.logits));
    for (std::size_t i = program_.nodes.size(); i-- > 0;) backward(i);
  }
  // Each weight gradient reads its operands for the last time when the next convolution begins.
  void step_with_concurrent_weight_gradients() {
    evaluate();
    write(gradient(program_.logits));
    std::optional<std::size_t> running;
    const auto join = [&] {
      if (!running) return;
      read(activation(plan_.input_of(program_, static_cast<int>(*running))));
      read(gradient(program_.nodes[*running].out));
    };
    for (std::size_t i = program_.nodes.size(); i-- > 0;) {
      const bool is_convolution = program_.nodes[i].kind == NodeKind::convolution;
      if (is_convolution) join();
      backward(i);
      if (is_convolution) running = i;
    }
    join();
  }

 private:
  enum class Kind { activation, gradient, second_gradient, winners };
  using Name = std::pair<Kind, std::size_t>;
  struct Region {
    std::size_t begin, end;
    bool whole = false;
  };

  static Name activation(const Slice& slice) { return {Kind::activation, static_cast<std::size_t>(slice.buffer)}; }
  static Name gradient(const Slice& slice) { return {Kind::gradient, static_cast<std::size_t>(slice.buffer)}; }
  static Name second(const Slice& slice) { return {Kind::second_gradient, static_cast<std::size_t>(slice.buffer)}; }

  void add(Name name, std::size_t offset, std::size_t bytes, std::size_t arena_bytes) {
    if (offset == kNoMemory) return;
    EXPECT_LE(offset + bytes, arena_bytes);
    regions_[name] = {offset, offset + bytes};
  }

  void write(Name name) {
    Region& written = regions_.at(name);
    for (auto& [other, region] : regions_) {
      if (other != name && region.begin < written.end && written.begin < region.end) region.whole = false;
    }
    written.whole = true;
  }
  void read(Name name) {
    EXPECT_TRUE(regions_.at(name).whole) << "kind " << static_cast<int>(name.first) << " of " << name.second
                                         << " was overwritten before its last use";
  }

  void forward(std::size_t i) {
    const Node& node = program_.nodes[i];
    if (plan_.forward_joins[i].norm >= 0) {
      read_join(plan_.forward_joins[i]);
      write(activation(node.in));
    }
    read(activation(plan_.input_of(program_, static_cast<int>(i))));
    if (node.residual.exists() && !plan_.is_left_out(static_cast<int>(i))) read(activation(node.residual));
    if (node.kind != NodeKind::statistics && !plan_.is_left_out(static_cast<int>(i))) write(activation(node.out));
    if (has_winners(node)) write({Kind::winners, i});
  }

  void backward(std::size_t i) {
    const Node& node = program_.nodes[i];
    if (node.kind == NodeKind::statistics) return;
    if (is_joined(i)) return apply_joined(node);
    read(gradient(node.out));
    if (regions_.contains(second(node.out))) read(second(node.out));
    if (has_winners(node)) read({Kind::winners, i});
    if (node.kind == NodeKind::convolution || node.kind == NodeKind::normalize || node.kind == NodeKind::linear)
      read(activation(plan_.input_of(program_, static_cast<int>(i))));
    if ((node.residual.exists() || node.kind == NodeKind::bias) && node.activation != Activation::none)
      read(activation(node.out));
    if (node.kind == NodeKind::copy) read(activation(node.out));
    if (!plan_.joins.empty() && plan_.joins[i].norm >= 0) return join(node, plan_.joins[i]);
    if (node.residual.exists()) write_gradient(node.residual);
    if (node.in.buffer != program_.input.buffer) write_gradient(node.in);
  }

  bool is_joined(std::size_t norm) const {
    return std::ranges::count(plan_.joins, static_cast<int>(norm), &ResidualJoin::norm) > 0;
  }
  void read_join(const ResidualJoin& join) {
    const auto node = [&](int i) { return program_.nodes[static_cast<std::size_t>(i)]; };
    read(activation(node(join.norm).in));
    read(activation(join.residual_norm >= 0 ? node(join.residual_norm).in : node(join.norm).residual));
  }
  // A data gradient that computes a join. The weight gradient reads the convolution's operands after it.
  void join(const Node& conv, const ResidualJoin& join) {
    const Node& norm = program_.nodes[static_cast<std::size_t>(join.norm)];
    EXPECT_EQ(written_[conv.in.buffer]++, 1);
    EXPECT_FALSE(regions_.contains(second(conv.in)));
    read(gradient(conv.in));
    read_join(join);
    write_gradient(norm.residual);
    read(gradient(conv.out));
    read(activation(conv.in));
  }
  void apply_joined(const Node& norm) {
    read(gradient(norm.residual));
    read(activation(norm.in));
    write_gradient(norm.in);
  }

  // A dense block's gradient is accumulated in place. Elsewhere the second reader writes to separate memory, and its
  // result is added to the first before the next reader writes there.
  void write_gradient(const Slice& slice) {
    const int before = written_[slice.buffer]++;
    if (before == 0 || !regions_.contains(second(slice))) return write(gradient(slice));
    if (before > 1) {
      read(second(slice));
      read(gradient(slice));
      write(gradient(slice));
    }
    write(second(slice));
  }

  const Program& program_;
  const MemoryPlan& plan_;
  std::map<Name, Region> regions_;
  std::map<int, int> written_;  // How often each buffer's gradient was written.
};

using Counts = std::map<std::string, int>;  // By network; 0 for networks that are not listed.
const Counts kNormsLeftOut{{"resnet50", 32}, {"googlenet", 19}};
const Counts kJoins{{"resnet50", 15}};
const Counts kReadTwice{{"resnet50", 16}, {"mobilenet_v2", 10}, {"googlenet", 9}};
const Counts kPooledNorms{{"resnet50", 1}, {"densenet121", 4}, {"googlenet", 2}};
const Counts kMaxPools{{"resnet50", 1}, {"densenet121", 1}, {"alexnet", 3}, {"googlenet", 13}};

class CudaMemoryPlan : public testing::TestWithParam<const char*> {
 protected:
  int of(const Counts& counts) const { return counts.contains(GetParam()) ? counts.at(GetParam()) : 0; }

  const model::Graph graph_ = model::make_network(GetParam(), 224);
  const Program program_ = lower(graph_, {.dropout = true});
};

TEST_P(CudaMemoryPlan, NothingIsOverwrittenBeforeItsLastUse) {
  const MemoryPlan plan = plan_memory(graph_, program_, kPlanned);
  MemoryRun(program_, plan, kPlanned.images).step();
}

// Such norms precede the last two convolutions of ResNet's 16 blocks, and in GoogLeNet one at the start and two in each
// inception. DenseNet's write into dense blocks, MobileNet's precede a ReLU6 or nothing; AlexNet has none.
TEST_P(CudaMemoryPlan, NormsThatConvolutionsComputeTakeNoMemory) {
  MemoryRequest request = kPlanned;
  request.prologues = prologue_norms(program_);
  EXPECT_EQ(std::ranges::count_if(request.prologues, [](int norm) { return norm >= 0; }), of(kNormsLeftOut));
  const MemoryPlan plan = plan_memory(graph_, program_, request);
  MemoryRun(program_, plan, request.images).step();
  const std::size_t before = plan_memory(graph_, program_, kPlanned).arena_bytes();
  if (of(kNormsLeftOut) > 0) {
    EXPECT_LT(plan.arena_bytes(), 95 * before / 100);
  } else {
    EXPECT_EQ(plan.arena_bytes(), before);
  }
}

TEST_P(CudaMemoryPlan, ConcurrentWeightGradientsKeepTheirOperands) {
  MemoryRequest request = kPlanned;
  request.concurrent_weight_gradients = true;
  request.weight_gradient_workspace_bytes = 1 << 20;
  const MemoryPlan plan = plan_memory(graph_, program_, request);
  MemoryRun(program_, plan, request.images).step_with_concurrent_weight_gradients();
  EXPECT_EQ(plan.regions.weight_gradient_workspace.bytes, request.weight_gradient_workspace_bytes);
  EXPECT_GE(plan.arena_bytes(), plan_memory(graph_, program_, kPlanned).arena_bytes());
}

// The maps between are the largest of all, but they exist when the arena is emptiest: at the beginning of forward and
// at the end of backward. So its size, which another moment decides, is no larger, and mostly the same.
TEST_P(CudaMemoryPlan, NormsThatTakeInAPoolHoldNoMapBetween) {
  const Program apart = lower(graph_, {.dropout = true, .fuses_pools = false});
  MemoryRequest request = kPlanned;
  request.fuses_pools = false;
  const MemoryPlan plan = plan_memory(graph_, apart, request);
  MemoryRun(apart, plan, request.images).step();
  EXPECT_LE(plan_memory(graph_, program_, kPlanned).arena_bytes(), plan.arena_bytes());
  const auto pooled = std::ranges::count_if(program_.nodes, [](const Node& node) { return node.pool.exists(); });
  EXPECT_EQ(pooled, of(kPooledNorms));
  EXPECT_EQ(program_.buffers.size() + static_cast<std::size_t>(pooled), apart.buffers.size());
}

// The gradient of a join's convolution then needs no second place; only that of ResNet's max pool does. A residual that
// backward reads again, instead of the norm that it is the result of, takes memory for longer.
TEST_P(CudaMemoryPlan, JoinsThatDataGradientsComputeOverwriteNothing) {
  MemoryRequest request = kPlanned;
  request.joins = residual_joins(program_);
  const MemoryPlan of_norms = plan_memory(graph_, program_, request);
  MemoryRun(program_, of_norms, request.images).step();
  for (ResidualJoin& join : request.joins) join.residual_norm = -1;
  const MemoryPlan plan = plan_memory(graph_, program_, request);
  MemoryRun(program_, plan, request.images).step();
  const auto second =
      std::ranges::count_if(plan.second_gradients, [](std::size_t offset) { return offset != kNoMemory; });
  EXPECT_EQ(second, of(kReadTwice) - of(kJoins));
  EXPECT_LE(of_norms.arena_bytes(), plan.arena_bytes());
}

// Norms whose results are only residuals are then not stored.
TEST_P(CudaMemoryPlan, JoinsThatForwardPassesComputeOverwriteNothing) {
  MemoryRequest request = kPlanned;
  for (const bool also_backward : {false, true}) {
    request.forward_joins = residual_joins(program_);
    if (also_backward) request.joins = request.forward_joins;
    const MemoryPlan plan = plan_memory(graph_, program_, request);
    MemoryRun(program_, plan, request.images).step();
    for (const ResidualJoin& join : request.forward_joins) {
      if (join.residual_norm < 0) continue;
      const Slice& residual = program_.nodes[static_cast<std::size_t>(join.residual_norm)].out;
      EXPECT_EQ(plan.activations[static_cast<std::size_t>(residual.buffer)], kNoMemory);
    }
    for (ResidualJoin& join : request.forward_joins) join.residual_norm = -1;
    MemoryRun(program_, plan_memory(graph_, program_, request), request.images).step();
  }
}

TEST_P(CudaMemoryPlan, AnEvaluationFitsIntoTheArenaOfTheSteps) {
  MemoryRequest request = kPlanned;
  request.prologues = prologue_norms(program_);
  const MemoryPlan steps = plan_memory(graph_, program_, request);
  const Program evaluation = lower(graph_, evaluation_options(true));
  const MemoryPlan plan = plan_evaluation(evaluation, request, steps.regions);
  MemoryRun(evaluation, plan, request.images).evaluate();
  EXPECT_EQ(plan.arena_bytes(), steps.arena_bytes());
  EXPECT_EQ(std::ranges::count(plan.gradients, kNoMemory), std::ssize(evaluation.buffers));
  EXPECT_EQ(plan.regions.norm_offsets.back(), steps.regions.norm_offsets.back());
}

// Each block of ResNet but the last is read twice, and so is the input of the first. In dense blocks the norms
// accumulate in place; ten of MobileNet's blocks add their input; four layers read the input of an inception.
TEST_P(CudaMemoryPlan, OnlyASecondReaderTakesMemoryForItsGradient) {
  const MemoryPlan plan = plan_memory(graph_, program_, kPlanned);
  const auto second =
      std::ranges::count_if(plan.second_gradients, [](std::size_t offset) { return offset != kNoMemory; });
  EXPECT_EQ(second, of(kReadTwice));
}

TEST_P(CudaMemoryPlan, MaxPoolsKeepWhichPlaceTheyTook) {
  const MemoryPlan plan = plan_memory(graph_, program_, kPlanned);
  EXPECT_EQ(std::ranges::count_if(plan.winners, [](std::size_t offset) { return offset != kNoMemory; }), of(kMaxPools));
}

TEST_P(CudaMemoryPlan, SharesMemoryBetweenTensorsThatDoNotMeet) {
  std::size_t apart_bytes = 0;
  for (const Buffer& buffer : program_.buffers) {
    apart_bytes += 2 * 2 * static_cast<std::size_t>(buffer.channels * buffer.height * buffer.width * kPlanned.images);
  }
  EXPECT_LT(plan_memory(graph_, program_, kPlanned).arena_bytes(), 2 * apart_bytes / 3);
}

TEST_P(CudaMemoryPlan, HoldsWeightsGradientsMomentsAndTheCopyThatComputes) {
  const auto parameters = static_cast<std::size_t>(model::parameter_count(graph_));
  // Gradients of matrices are fp16; padding and the f32 gradients of vectors add less than 1 %.
  const auto expect_about = [](std::size_t bytes, std::size_t least) {
    EXPECT_GE(bytes, least);
    EXPECT_LT(static_cast<double>(bytes), 1.01 * static_cast<double>(least));
  };
  expect_about(plan_memory(graph_, program_, kPlanned).regions.parameter_bytes(), parameters * (3 * 4 + 2 + 2));
  const MemoryRequest sgd{.images = 8, .precision = spec::Precision::tf32, .optimizer = spec::OptimizerKind::sgd};
  expect_about(plan_memory(graph_, program_, sgd).regions.parameter_bytes(), parameters * (3 * 4));
  MemoryRequest accumulating = kPlanned;
  accumulating.accumulates = true;
  expect_about(plan_memory(graph_, program_, accumulating).regions.parameter_bytes(), parameters * (4 * 4 + 2 + 2));
}

TEST_P(CudaMemoryPlan, TheLargestBatchFitsAndOneMoreDoesNot) {
  constexpr std::size_t kAvailable = 6'000'000'000;
  MemoryRequest request = kPlanned;
  request.images = largest_batch(graph_, program_, kPlanned, kAvailable);
  EXPECT_GT(request.images, 8);
  EXPECT_LE(plan_memory(graph_, program_, request).total_bytes(), kAvailable);
  ++request.images;
  EXPECT_GT(plan_memory(graph_, program_, request).total_bytes(), kAvailable);
}

TEST_P(CudaMemoryPlan, AnErrorSaysHowManyBytesAreMissingAndWhatWouldFit) {
  MemoryRequest request = kPlanned;
  request.images = 4096;
  const auto message = [&](std::size_t available) -> std::string {
    try {
      check_fits(graph_, program_, request, available);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "fits";
  };
  EXPECT_THAT(message(6'000'000'000),
              testing::AllOf(HasSubstr("at batch 4096 takes"), HasSubstr("GB more than"),
                             HasSubstr("training.batch_size: " +
                                       std::to_string(largest_batch(graph_, program_, request, 6'000'000'000)))));
  EXPECT_THAT(message(1000), HasSubstr("not even one image fits"));
  request.images = 1;
  EXPECT_EQ(message(6'000'000'000), "fits");
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaMemoryPlan,
                         testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet", "googlenet"),
                         ParamName());

// A packed output is kept until its copy, and its gradient until the convolution's own step; the outputs of the norms
// before them are not stored.
TEST(MemoryPlan, OfPackedDenseLayersTakesLess) {
  const model::Graph graph = model::densenet121(224);
  const Program program = lower(graph), packed = with_packed_outputs(program, [](const Node&) { return true; });
  MemoryRequest request = kPlanned;
  const std::size_t apart_bytes = plan_memory(graph, program, request).arena_bytes();
  MemoryRun(packed, plan_memory(graph, packed, request), request.images).step();
  request.prologues = prologue_norms(packed);
  const MemoryPlan plan = plan_memory(graph, packed, request);
  MemoryRun(packed, plan, request.images).step();
  EXPECT_LT(plan.arena_bytes(), 85 * apart_bytes / 100);
}

}  // namespace
}  // namespace chexbench::engine::cuda
