#include "engine/cuda/sweep/kernel_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

struct Runs {
  int separate = 0, fused = 0;
  friend bool operator==(const Runs&, const Runs&) = default;
};

// Returns how often a step runs any of the kernels.
Runs runs(const std::vector<KernelUse>& uses, const std::vector<Kernel>& kernels) {
  Runs sum;
  for (const KernelUse& use : uses) {
    if (std::ranges::count(kernels, use.call.kernel) == 0) continue;
    sum.separate += use.runs;
    sum.fused += use.fused_runs;
  }
  return sum;
}

const std::vector<Kernel> kSums{Kernel::gradient_sums, Kernel::gradient_sums_two, Kernel::gradient_sums_residual,
                                Kernel::gradient_sums_residual_two};
const std::vector<Kernel> kApplies{Kernel::gradient_apply, Kernel::gradient_apply_two, Kernel::gradient_apply_masked};

std::vector<KernelUse> list_of(const std::string& network, spec::Precision precision = spec::Precision::fp16) {
  const model::Graph graph = model::make_network(network, 224);
  return kernel_list(graph, 256, precision);
}

// 53 batch norms: 16 with a residual, and one with a max pool, which is separate without training.fused.
TEST(KernelList, HasEveryNormOfResnet50) {
  const std::vector<KernelUse> uses = list_of("resnet50", spec::Precision::f32);
  EXPECT_EQ(runs(uses, {Kernel::statistics}), (Runs{53, 53}));
  EXPECT_EQ(runs(uses, {Kernel::normalize}), (Runs{37, 36}));
  EXPECT_EQ(runs(uses, {Kernel::normalize_residual}), (Runs{16, 16}));
  EXPECT_EQ(runs(uses, kSums), (Runs{53, 52}));
  EXPECT_EQ(runs(uses, kApplies), (Runs{53, 52}));
  EXPECT_EQ(runs(uses, {Kernel::max_pool}), (Runs{1, 0}));
  EXPECT_EQ(runs(uses, {Kernel::max_pool_backward}), (Runs{1, 0}));
  for (const Kernel kernel :
       {Kernel::norm_max_pool, Kernel::max_pooled_gradient_sums, Kernel::max_pooled_gradient_apply})
    EXPECT_EQ(runs(uses, {kernel}), (Runs{0, 1})) << to_string(kernel);
  EXPECT_EQ(runs(uses, {Kernel::moments, Kernel::moments_and_affine, Kernel::affine}), (Runs{0, 0}));
  EXPECT_FALSE(std::ranges::any_of(uses, [](const KernelUse& use) { return use.call.inverse_deviation; }));
}

// A data gradient that computes any sums needs the norm's inverse deviation.
TEST(KernelList, LeavesToConvolutionsWhatTheyFuse) {
  const std::vector<KernelUse> uses = list_of("resnet50");
  EXPECT_EQ(runs(uses, {Kernel::statistics}).separate, 53);
  EXPECT_EQ(runs(uses, {Kernel::statistics, Kernel::moments, Kernel::moments_and_affine}).fused, 53);
  EXPECT_EQ(runs(uses, {Kernel::normalize, Kernel::normalize_residual, Kernel::norm_max_pool,
                        Kernel::moments_and_affine, Kernel::affine})
                .fused,
            53);
  EXPECT_GT(runs(uses, {Kernel::moments_and_affine}).fused, 0);
  EXPECT_EQ(runs(uses, kSums).separate, 53);
  int inverse_deviations = 0;
  for (const KernelUse& use : uses) {
    if (!use.call.inverse_deviation) continue;
    EXPECT_EQ(use.runs, 0) << shape_text(use.call);
    inverse_deviations += use.fused_runs;
  }
  EXPECT_EQ(runs(uses, kSums).fused + runs(uses, {Kernel::max_pooled_gradient_sums}).fused + inverse_deviations, 53);
  EXPECT_EQ(runs(uses, kApplies).fused + runs(uses, {Kernel::max_pooled_gradient_apply}).fused, 53);
}

// All blocks but the last have a convolution after them that computes the block's join, in forward. In four blocks that
// is two norms.
TEST(KernelList, HasOneJoinThatNoConvolutionComputes) {
  const std::vector<KernelUse> uses = list_of("resnet50");
  EXPECT_EQ(runs(uses, {Kernel::normalize_residual}), (Runs{16, 1}));
  EXPECT_EQ(runs(uses, {Kernel::normalize}), (Runs{37, 0}));
}

// All blocks but the last have a convolution after them, whose data gradient computes the join. It leaves to the join's
// norm only the masked apply.
TEST(KernelList, HasNoGradientSumsOfNormsThatJoinsSum) {
  const std::vector<KernelUse> uses = list_of("resnet50");
  const std::vector<Kernel> of_residuals{Kernel::gradient_sums_residual, Kernel::gradient_sums_residual_two};
  EXPECT_EQ(runs(uses, of_residuals).separate, 16);
  EXPECT_EQ(runs(uses, of_residuals).fused, 16 - 15);
}

// 58 norms of the dense blocks' 1x1 convolutions and of three transitions and the end read a block; every dense block
// has one part per layer, and one more at the beginning.
TEST(KernelList, HasEveryPassOverDenseBlocks) {
  const std::vector<KernelUse> uses = list_of("densenet121");
  EXPECT_EQ(runs(uses, {Kernel::lazy_accumulate_first, Kernel::lazy_accumulate}), (Runs{58 + 4, 58 + 1}));
  EXPECT_EQ(runs(uses, {Kernel::lazy_accumulate_first}), (Runs{4, 1}));
  EXPECT_EQ(runs(uses, {Kernel::average_pooled_lazy_accumulate}), (Runs{0, 3}));
  EXPECT_EQ(runs(uses, {Kernel::lazy_apply}), (Runs{58 + 4, 4}));
  EXPECT_EQ(runs(uses, {Kernel::lazy_apply_packed}), (Runs{0, 58}));
  EXPECT_EQ(runs(uses, {Kernel::copy}), (Runs{0, 58}));
}

// Packed layers serve fused plans, which exist only in fp16.
TEST(KernelList, PacksNoDenseBlockWhereNothingIsFused) {
  for (const spec::Precision precision : {spec::Precision::f32, spec::Precision::bf16})
    EXPECT_EQ(runs(list_of("densenet121", precision), {Kernel::copy, Kernel::lazy_apply_packed}), (Runs{0, 0}));
}

TEST(KernelList, HasEachCallOnce) {
  for (const std::string& network : model::network_names()) {
    const std::vector<KernelUse> uses = list_of(network);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      for (std::size_t j = i + 1; j < uses.size(); ++j) EXPECT_FALSE(same(uses[i].call, uses[j].call)) << network;
    }
  }
}

TEST(KernelList, NamesEveryKernel) {
  for (const Kernel kernel : all_kernels()) EXPECT_FALSE(to_string(kernel).empty());
  EXPECT_EQ(static_cast<std::size_t>(Kernel::copy_weights) + 1, all_kernels().size());
  EXPECT_TRUE(std::ranges::is_sorted(all_kernels()));
}

// The bytes that each kernel moves, per element of a type of T bytes. A kernel's reads by channel add less than a
// thousandth.
TEST(KernelBytes, AreThoseOfTheTable) {
  constexpr std::int64_t kRows = 1 << 20, kT = 2;
  const auto of = [](Kernel kernel, Activation activation = Activation::relu) {
    const KernelCall call{
        .kernel = kernel, .type = FloatType::fp16, .items = kRows, .channels = 64, .activation = activation};
    return static_cast<double>(bytes_moved(call)) / (64 * kRows);
  };
  const auto near = [](double found, double expected) { EXPECT_NEAR(found, expected, 1e-3 * expected); };
  near(of(Kernel::statistics), kT);
  near(of(Kernel::normalize), 2 * kT);
  near(of(Kernel::normalize_residual), 3 * kT);
  near(of(Kernel::gradient_sums), 2 * kT);
  near(of(Kernel::gradient_sums_residual), 4 * kT);
  near(of(Kernel::gradient_sums_residual, Activation::none), 3 * kT);
  near(of(Kernel::gradient_sums_residual_two), 5 * kT);
  near(of(Kernel::gradient_apply), 3 * kT);
  near(of(Kernel::lazy_accumulate_first), 2 * kT + kT);
  near(of(Kernel::lazy_accumulate), 2 * kT + 2 * kT);
  near(of(Kernel::lazy_apply), 2 * kT + kT);
  near(of(Kernel::lazy_apply_packed), 2 * kT + kT);
  near(of(Kernel::add), 3 * kT);
  near(of(Kernel::copy), 2 * kT);
  near(of(Kernel::bias), 2 * kT);
  near(of(Kernel::bias_backward), 3 * kT);
}

// Per element of the norm's input; a thousandth covers the values by channel.
TEST(KernelBytes, OfNormsWithPoolsAreThoseOfTheTable) {
  constexpr kernels::PoolShape kMax{
      .height = 112, .width = 112, .out_height = 56, .out_width = 56, .kernel = 3, .stride = 2, .padding = 1};
  constexpr kernels::PoolShape kAverage{
      .height = 56, .width = 56, .out_height = 28, .out_width = 28, .kernel = 2, .stride = 2};
  const auto expect = [](Kernel kernel, const kernels::PoolShape& pool, double expected) {
    const KernelCall call{.kernel = kernel, .type = FloatType::fp16, .items = 64, .channels = 64, .pool = pool};
    const double found = static_cast<double>(bytes_moved(call)) / (64 * 64 * pool.pixels());
    EXPECT_NEAR(found, expected, 1e-3 * expected) << to_string(kernel);
  };
  constexpr double kT = 2;
  expect(Kernel::norm_max_pool, kMax, 1.25 * kT + 0.25);
  expect(Kernel::max_pooled_gradient_sums, kMax, 1.25 * kT + 0.25);
  expect(Kernel::max_pooled_gradient_apply, kMax, 2.25 * kT + 0.25);
  expect(Kernel::norm_average_pool, kAverage, 1.25 * kT);
  expect(Kernel::average_pooled_gradient_sums, kAverage, 1.25 * kT);
  expect(Kernel::average_pooled_gradient_apply, kAverage, 2.25 * kT);
  expect(Kernel::average_pooled_lazy_accumulate, kAverage, 2.25 * kT);
}

TEST(KernelBytes, OfPoolsAndFlatArraysAreThoseOfTheTable) {
  const KernelCall pool{
      .kernel = Kernel::max_pool,
      .type = FloatType::fp16,
      .items = 2,
      .channels = 64,
      .pool = {.height = 112, .width = 112, .out_height = 56, .out_width = 56, .kernel = 3, .stride = 2, .padding = 1}};
  EXPECT_EQ(bytes_moved(pool), 2 * 64 * (112 * 112 * 2 + 56 * 56 * (2 + 1)));
  const auto of = [](Kernel kernel, FloatType type) {
    return static_cast<double>(bytes_moved({.kernel = kernel, .type = type, .items = 1 << 20})) / (1 << 20);
  };
  EXPECT_NEAR(of(Kernel::adam, FloatType::fp16), 24 + 2 * 2, 1e-3);
  EXPECT_NEAR(of(Kernel::sgd, FloatType::fp16), 16 + 2 * 2, 1e-3);
  EXPECT_NEAR(of(Kernel::adam, FloatType::f32), 24 + 4, 1e-3);  // without a copy
  EXPECT_NEAR(of(Kernel::accumulate, FloatType::fp16), 8 + 2, 1e-3);
  EXPECT_NEAR(of(Kernel::accumulate_first, FloatType::fp16), 4 + 2, 1e-3);
  EXPECT_NEAR(of(Kernel::average, FloatType::fp16), 4 + 2 * 2, 1e-3);
  EXPECT_NEAR(of(Kernel::overflow_check, FloatType::fp16), 2, 1e-3);
}

}  // namespace
}  // namespace chexbench::engine::cuda
