#include "engine/cuda/convolution/plan_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

// DenseNet's dense layers come with strided outputs and with packed ones.
TEST(SweepItems, ArePlainPatternsOfEverythingAndThenTheFusedOnes) {
  const auto items =
      sweep_items({.networks = {"resnet50", "densenet121"}, .batches = {64}, .precisions = {Precision::fp16}});
  const auto fused = [](const SweepItem& item) { return is_fused(item.request.pattern); };
  EXPECT_TRUE(std::ranges::is_partitioned(items, std::not_fn(fused)));
  EXPECT_EQ(std::ranges::count_if(items, std::not_fn(fused)), (23 + 22 + 23) + (66 + 65 + 66) + 3 * 4);
  EXPECT_EQ(std::ranges::count_if(items, fused), 4 * 22 + 2 * (7 + 4) + (4 * 58 + 7) + 4 * 4);
}

TEST(SweepItems, CoverEveryBatchAndPrecision) {
  const auto items =
      sweep_items({.networks = {"resnet50"}, .batches = {64, 256}, .precisions = {Precision::f32, Precision::bf16}});
  for (const int images : {64, 256}) {
    for (const Precision precision : {Precision::f32, Precision::bf16}) {
      EXPECT_EQ(std::ranges::count_if(items,
                                      [&](const SweepItem& item) {
                                        return item.request.shape.images == images &&
                                               item.request.precision == precision;
                                      }),
                68);
    }
  }
}

TEST(SweepItems, RefuseANetworkThatNobodyKnows) {
  EXPECT_THROW(sweep_items({.networks = {"resnet5"}, .batches = {64}, .precisions = {Precision::f32}}), SpecError);
}

}  // namespace
}  // namespace chexbench::engine::cuda
