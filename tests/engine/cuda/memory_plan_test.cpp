#include "engine/cuda/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "engine/cuda/lowering.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::HasSubstr;

constexpr MemoryRequest kRequest{.images = 8, .precision = spec::Precision::fp16};

// Runs a step's reads and writes over the planned memory, as the engine's kernels would do them: a write spoils
// everything else that lies in the same bytes, and nothing spoiled may be read.
class MemoryRun {
 public:
  MemoryRun(const Program& program, const MemoryPlan& plan, int images) : program_(program), plan_(plan) {
    for (int side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        const Buffer& b = program.buffers[i];
        const std::size_t bytes = static_cast<std::size_t>(b.channels * b.height * b.width * images) * 2;
        const std::size_t offset = side == 0 ? plan.activations[i] : plan.gradients[i];
        if (offset == kNoMemory) continue;
        EXPECT_LE(offset + bytes, plan.arena_bytes);
        regions_.push_back({side == 1, static_cast<int>(i), offset, offset + bytes, false});
      }
    }
  }

  void step() {
    write(false, program_.input);
    for (const Node& node : program_.nodes) forward(node);
    write(true, program_.logits);
    for (auto node = program_.nodes.rbegin(); node != program_.nodes.rend(); ++node) backward(*node);
  }

 private:
  struct Region {
    bool gradient;
    int buffer;
    std::size_t begin, end;
    bool whole;
  };

  Region& region(bool gradient, const Slice& slice) {
    for (Region& region : regions_) {
      if (region.gradient == gradient && region.buffer == slice.buffer) return region;
    }
    ADD_FAILURE() << "buffer " << slice.buffer << (gradient ? ": its gradient" : "") << " has no memory";
    return regions_.front();
  }

  void write(bool gradient, const Slice& slice) {
    Region& written = region(gradient, slice);
    for (Region& other : regions_) {
      if (&other != &written && other.begin < written.end && written.begin < other.end) other.whole = false;
    }
    written.whole = true;
  }

  void read(bool gradient, const Slice& slice) {
    EXPECT_TRUE(region(gradient, slice).whole)
        << (gradient ? "gradient of buffer " : "buffer ") << slice.buffer << " was overwritten before its last use";
  }

  void forward(const Node& node) {
    read(false, node.in);
    if (node.residual.exists()) read(false, node.residual);
    if (node.kind != NodeKind::statistics) write(false, node.out);
  }

  void backward(const Node& node) {
    if (node.kind == NodeKind::statistics) return;
    read(true, node.out);
    const bool looks_back = node.kind != NodeKind::average_pool && node.kind != NodeKind::global_average_pool;
    if (looks_back) read(false, node.in);
    if (node.residual.exists()) {
      if (node.activation != Activation::none) read(false, node.out);
      write(true, node.residual);
    }
    if (node.in.buffer != program_.input.buffer) write(true, node.in);
  }

  const Program& program_;
  const MemoryPlan& plan_;
  std::vector<Region> regions_;
};

class CudaMemoryPlan : public testing::TestWithParam<const char*> {
 protected:
  const model::Graph graph_ = model::make_network(GetParam(), 224);
  const Program program_ = lower(graph_);
};

TEST_P(CudaMemoryPlan, NothingIsOverwrittenBeforeItsLastUse) {
  const MemoryPlan plan = plan_memory(graph_, program_, kRequest);
  MemoryRun(program_, plan, kRequest.images).step();
}

TEST_P(CudaMemoryPlan, SharesMemoryBetweenTensorsThatDoNotMeet) {
  std::size_t apart_bytes = 0;
  for (const Buffer& buffer : program_.buffers) {
    apart_bytes += 2 * 2 * static_cast<std::size_t>(buffer.channels * buffer.height * buffer.width * kRequest.images);
  }
  EXPECT_LT(plan_memory(graph_, program_, kRequest).arena_bytes, 2 * apart_bytes / 3);
}

TEST_P(CudaMemoryPlan, HoldsWeightsGradientsMomentsAndTheCopyThatComputes) {
  const auto parameters = static_cast<std::size_t>(model::parameter_count(graph_));
  EXPECT_EQ(plan_memory(graph_, program_, kRequest).parameter_bytes, parameters * (4 * 4 + 2));
  const MemoryRequest sgd{.images = 8, .precision = spec::Precision::tf32, .optimizer = spec::OptimizerKind::sgd};
  EXPECT_EQ(plan_memory(graph_, program_, sgd).parameter_bytes, parameters * (3 * 4));
}

TEST_P(CudaMemoryPlan, TheLargestBatchFitsAndOneMoreDoesNot) {
  constexpr std::size_t kAvailable = 6'000'000'000;
  MemoryRequest request = kRequest;
  request.images = largest_batch(graph_, program_, kRequest, kAvailable);
  EXPECT_GT(request.images, 8);
  EXPECT_LE(plan_memory(graph_, program_, request).total_bytes(), kAvailable);
  ++request.images;
  EXPECT_GT(plan_memory(graph_, program_, request).total_bytes(), kAvailable);
}

TEST_P(CudaMemoryPlan, AnErrorSaysHowManyBytesAreMissingAndWhatWouldFit) {
  MemoryRequest request = kRequest;
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

INSTANTIATE_TEST_SUITE_P(Networks, CudaMemoryPlan, testing::Values("resnet50", "densenet121"));

}  // namespace
}  // namespace chexbench::engine::cuda
