#include "engine/cuda/program/device_regions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/param_name.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::OptimizerKind;
using spec::Precision;

constexpr RegionRequest kRequest{.images = 5,
                                 .image_size = 224,
                                 .outputs = 14,
                                 .precision = Precision::fp16,
                                 .arena_bytes = 1000,
                                 .workspace_bytes = 3};

std::vector<Region> all(const DeviceRegions& regions) {
  std::vector<Region> result{regions.mean,           regions.variance,         regions.inverse_deviation,
                             regions.slope,          regions.constant,         regions.channel_rows,
                             regions.running_mean,   regions.running_variance, regions.running_source,
                             regions.running_unbias, regions.logits,           regions.scalars,
                             regions.reductions,     regions.workspace,        regions.arena};
  for (const ParameterRegions& kind : regions.parameters)
    result.insert(result.end(), {kind.weights, kind.gradients, kind.first, kind.second, kind.copies, kind.sums});
  for (int slot = 0; slot < kSlots; ++slot)
    result.insert(result.end(), {regions.images[slot], regions.labels[slot], regions.losses[slot]});
  std::erase_if(result, [](const Region& region) { return region.bytes == 0; });
  std::ranges::sort(result, {}, &Region::offset);
  return result;
}

int most_outputs(const Program& program) {
  int most = 0;
  for (const Node& node : program.nodes) {
    if (node.kind == NodeKind::convolution) most = std::max(most, node.out.channels);
  }
  return most;
}

class CudaDeviceRegions : public testing::TestWithParam<const char*> {
 protected:
  DeviceRegions lay_out(const RegionRequest& request) const { return cuda::lay_out(program_, layout_, request); }

  const model::Graph graph_ = model::make_network(GetParam(), 224);
  const Program program_ = lower(graph_);
  const ParameterLayout layout_{graph_, program_};
};

// A gap is as wrong as an overlap: no region would name that memory.
TEST_P(CudaDeviceRegions, RegionsFollowEachOtherAlignedToTheEndOfTheAllocation) {
  for (const Precision precision : {Precision::f32, Precision::fp16}) {
    for (const OptimizerKind optimizer : {OptimizerKind::adam, OptimizerKind::sgd}) {
      RegionRequest request = kRequest;
      request.precision = precision;
      request.optimizer = optimizer;
      const DeviceRegions regions = lay_out(request);
      std::size_t end = 0;
      for (const Region& region : all(regions)) {
        EXPECT_EQ(region.offset % kRegionAlignBytes, 0u);
        EXPECT_GE(region.offset, end);
        EXPECT_LT(region.offset - end, kRegionAlignBytes);
        end = region.offset + region.bytes;
      }
      EXPECT_GE(regions.bytes, end);
      EXPECT_LT(regions.bytes - end, kRegionAlignBytes);
    }
  }
}

TEST_P(CudaDeviceRegions, OnlyMatricesFollowThePrecision) {
  for (const Precision precision : {Precision::f32, Precision::tf32, Precision::fp16, Precision::bf16}) {
    RegionRequest request = kRequest;
    request.precision = precision;
    const DeviceRegions regions = lay_out(request);
    const std::size_t bytes_each = precision == Precision::f32 || precision == Precision::tf32 ? 4 : 2;
    const std::size_t elements = layout_.size(ParameterKind::matrix);
    const ParameterRegions &matrices = regions.parameters[0], &vectors = regions.parameters[1];
    EXPECT_EQ(matrices.weights.bytes, 4 * elements);
    EXPECT_EQ(matrices.gradients.bytes, bytes_each * elements);
    EXPECT_EQ(matrices.copies.bytes, bytes_each == 4 ? 0 : 2 * elements);
    EXPECT_EQ(vectors.weights.bytes, 4 * layout_.size(ParameterKind::vector));
    EXPECT_EQ(vectors.gradients.bytes, vectors.weights.bytes);
    EXPECT_EQ(vectors.copies.bytes, 0u);
  }
}

TEST_P(CudaDeviceRegions, AdamHasASecondMomentAndSgdHasNone) {
  RegionRequest request = kRequest;
  for (const OptimizerKind optimizer : {OptimizerKind::adam, OptimizerKind::sgd}) {
    request.optimizer = optimizer;
    for (const ParameterRegions& kind : lay_out(request).parameters) {
      EXPECT_EQ(kind.first.bytes, kind.weights.bytes);
      EXPECT_EQ(kind.second.bytes, optimizer == OptimizerKind::adam ? kind.weights.bytes : 0);
    }
  }
}

TEST_P(CudaDeviceRegions, BatchesFollowWhatIsDelivered) {
  RegionRequest request = kRequest;
  for (const Deliver deliver : {Deliver::f32, Deliver::u8}) {
    request.deliver = deliver;
    const DeviceRegions regions = lay_out(request);
    for (int slot = 0; slot < kSlots; ++slot) {
      EXPECT_EQ(regions.images[slot].bytes, 5u * 224 * 224 * (deliver == Deliver::f32 ? 3 * 4 : 1));
      EXPECT_EQ(regions.labels[slot].bytes, 5u * 14 * 4);
      EXPECT_EQ(regions.losses[slot].bytes, 4u);
    }
    EXPECT_EQ(regions.logits.bytes, 5u * 14 * 4);
    EXPECT_EQ(regions.batch_bytes(), 2 * (regions.images[0].bytes + regions.labels[0].bytes));
  }
}

TEST_P(CudaDeviceRegions, WhatIsAskedForIsThere) {
  const DeviceRegions regions = lay_out(kRequest);
  EXPECT_EQ(regions.arena.bytes, 1000u);
  EXPECT_EQ(regions.workspace.bytes, 3u);
  EXPECT_EQ(regions.scalars.bytes, sizeof(kernels::StepScalars));
}

TEST_P(CudaDeviceRegions, EachChannelOfABufferHasItsOwnValues) {
  const DeviceRegions regions = lay_out(kRequest);
  ASSERT_EQ(regions.channel_offsets.size(), program_.buffers.size() + 1);
  std::size_t next = 0;
  for (std::size_t i = 0; i < program_.buffers.size(); ++i) {
    EXPECT_EQ(regions.channel_offsets[i], next);
    next += static_cast<std::size_t>(program_.buffers[i].channels);
  }
  for (const Region& region : {regions.mean, regions.variance, regions.slope, regions.constant})
    EXPECT_EQ(region.bytes, 4 * next);
}

TEST_P(CudaDeviceRegions, EachChannelOfANormHasItsOwnRunningStatistics) {
  const DeviceRegions regions = lay_out(kRequest);
  std::size_t next = 0;
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    if (program_.nodes[i].kind != NodeKind::normalize) continue;
    EXPECT_EQ(regions.norm_offsets[i], next);
    next += static_cast<std::size_t>(program_.nodes[i].in.channels);
  }
  for (const Region& region :
       {regions.running_mean, regions.running_variance, regions.running_source, regions.running_unbias})
    EXPECT_EQ(region.bytes, 4 * next);
}

// Or the kernels of norms would load their values by channel one by one (kernels/dispatch.hpp).
TEST_P(CudaDeviceRegions, ValuesByChannelAreAlignedToSixteenBytes) {
  const DeviceRegions regions = lay_out(kRequest);
  const auto aligned = [](std::size_t offset) { return offset * sizeof(float) % 16 == 0; };
  EXPECT_TRUE(std::ranges::all_of(regions.channel_offsets, aligned));
  EXPECT_TRUE(std::ranges::all_of(regions.norm_offsets, aligned));
  for (const ParameterPlace& place : layout_.places()) EXPECT_TRUE(aligned(place.offset)) << place.parameter.info.name;
}

TEST_P(CudaDeviceRegions, OutputSumsHoldTwoRowsOfTheWidestConvolution) {
  EXPECT_GE(lay_out(kRequest).channel_rows.bytes, 2u * 4 * static_cast<std::size_t>(most_outputs(program_)));
}

TEST_P(CudaDeviceRegions, OnlyPartialSumsGrowWithTheDevice) {
  RegionRequest request = kRequest;
  const DeviceRegions before = lay_out(request);
  request.multiprocessors *= 2;
  const DeviceRegions after = lay_out(request);
  EXPECT_GT(after.reductions.bytes, before.reductions.bytes);
  const auto rest_bytes = [](const DeviceRegions& regions) {
    std::vector<std::size_t> bytes;
    for (const Region& region : all(regions)) {
      if (region.offset != regions.reductions.offset) bytes.push_back(region.bytes);
    }
    return bytes;
  };
  EXPECT_EQ(rest_bytes(after), rest_bytes(before));
}

// Each region is in exactly one of the sums.
TEST_P(CudaDeviceRegions, ParametersChannelsBatchesAndTheRestAreAll) {
  RegionRequest request = kRequest;
  request.accumulates = true;
  const DeviceRegions regions = lay_out(request);
  const std::size_t rest = regions.losses[0].bytes + regions.losses[1].bytes + regions.logits.bytes +
                           regions.scalars.bytes + regions.reductions.bytes + regions.workspace.bytes +
                           regions.arena.bytes;
  const std::vector<Region> each = all(regions);
  const std::size_t sum = std::transform_reduce(each.begin(), each.end(), std::size_t{0}, std::plus{},
                                                [](const Region& r) { return r.bytes; });
  EXPECT_EQ(regions.parameter_bytes() + regions.channel_bytes() + regions.batch_bytes() + rest, sum);
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaDeviceRegions, testing::Values("resnet50", "densenet121"), ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
