// Whether the convolutions of dense layers write packed outputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "engine/cuda/convolution/convolutions_fixture.hpp"

namespace chexbench::engine::cuda {
namespace {

using testing::IsEmpty;

// A dense layer's convolution: separately, norm, forward, statistics, data gradient, the norm's sums, and weight
// gradient take 1 s each. Packed, the first three take 1 s together, and so do data gradient and sums.
class ConvolutionsInDenseBlocks : public testing::Test {
 protected:
  static constexpr double kSaved_s = 3;

  ConvolutionsInDenseBlocks() {
    scripted_.plans = {{ConvPattern::forward, {{.engine = "plain"}}},
                       {ConvPattern::forward_statistics, {{.engine = "sums", .statistics_s = 0}}},
                       {ConvPattern::normalized_forward_statistics, {{.engine = "behind norm", .statistics_s = 0}}},
                       {ConvPattern::data_gradient, {{.engine = "data"}}},
                       {ConvPattern::data_gradient_norm, {{.engine = "data and norm"}}},
                       {ConvPattern::weight_gradient, {{.engine = "weight"}}},
                       {ConvPattern::normalized_weight_gradient, {{.engine = "weight behind norm"}}}};
    testing::internal::CaptureStderr();
  }
  ~ConvolutionsInDenseBlocks() override { testing::internal::GetCapturedStderr(); }

  Convolutions planned(const ConvolutionsConfig& config) {
    return Convolutions({kInBlock, kElsewhere}, config, scripted_.device());
  }

  static constexpr ConvShape kInBlock{.images = 64,
                                      .in_channels = 128,
                                      .height = 56,
                                      .width = 56,
                                      .out_channels = 32,
                                      .kernel = 3,
                                      .padding = 1,
                                      .in_pixel_stride = 128,
                                      .out_pixel_stride = 256};
  static constexpr ConvShape kElsewhere{.images = 64,
                                        .in_channels = 256,
                                        .height = 56,
                                        .width = 56,
                                        .out_channels = 128,
                                        .in_pixel_stride = 256,
                                        .out_pixel_stride = 128};
  ScriptedDevice scripted_;
  const ConvShape packed_ = with_packed_output(kInBlock);
  ConvolutionsConfig dense_{
      .precision = spec::Precision::fp16, .behind_norms = {packed_}, .in_blocks = {kInBlock, kInBlock}};
};

TEST_F(ConvolutionsInDenseBlocks, WritePackedOutputsWhereAllPassesTogetherAreFasterWithTheCopy) {
  scripted_.own_pass_s[OwnPass::copy] = kSaved_s - 0.1;
  const Convolutions convolutions = planned(dense_);
  EXPECT_TRUE(convolutions.packs(kInBlock));
  EXPECT_FALSE(convolutions.packs(kElsewhere));
  EXPECT_TRUE(convolutions.has(packed_, ConvPattern::normalized_forward_statistics));
  EXPECT_TRUE(convolutions.has(packed_, ConvPattern::data_gradient_norm));
  EXPECT_FALSE(convolutions.has(kInBlock, ConvPattern::normalized_forward_statistics));
}

TEST_F(ConvolutionsInDenseBlocks, WriteIntoTheBlockWhereThatIsFasterAndThenNothingIsPlannedForPackedOnes) {
  scripted_.own_pass_s[OwnPass::copy] = kSaved_s;
  const Convolutions convolutions = planned(dense_);
  EXPECT_FALSE(convolutions.packs(kInBlock));
  EXPECT_THROW(convolutions.has(packed_, ConvPattern::normalized_forward_statistics), std::logic_error);
}

TEST_F(ConvolutionsInDenseBlocks, WithoutAPlanForTheNormMaySaveTheStatisticsAlone) {
  scripted_.plans[ConvPattern::normalized_forward_statistics][0].state = PlanState::refused;
  scripted_.plans[ConvPattern::data_gradient_norm][0].state = PlanState::refused;
  scripted_.own_pass_s[OwnPass::copy] = 0.9;
  EXPECT_TRUE(planned(dense_).packs(kInBlock));
  scripted_.own_pass_s[OwnPass::copy] = 1;
  EXPECT_FALSE(planned(dense_).packs(kInBlock));
}

TEST_F(ConvolutionsInDenseBlocks, AreNotPackedUnfusedOrDeterministicOrElsewhereOrLate) {
  for (const ConvolutionsConfig& config : unfused(dense_)) EXPECT_FALSE(planned(config).packs(kInBlock));
  ConvolutionsConfig config = dense_;
  config.in_blocks.clear();
  EXPECT_FALSE(planned(config).packs(kInBlock));
  config = dense_;
  config.tuning.seconds = -1;
  EXPECT_FALSE(planned(config).packs(kInBlock));
}

TEST_F(ConvolutionsInDenseBlocks, ArePackedWhereFusedPlansAreForced) {
  scripted_.own_pass_s[OwnPass::copy] = 99;
  dense_.tuning.forces_fused = true;
  EXPECT_TRUE(planned(dense_).packs(kInBlock));
}

TEST_F(ConvolutionsInDenseBlocks, ChooseTheSameAtASecondStartWithoutTiming) {
  const std::string file = testing::TempDir() + "convolutions-packed-" + std::to_string(getpid());
  dense_.cache_file = file;
  for (const double copy_s : {kSaved_s - 0.1, kSaved_s}) {
    scripted_.own_pass_s[OwnPass::copy] = copy_s;
    const bool packs = planned(dense_).packs(kInBlock);
    scripted_.timed.clear();
    EXPECT_EQ(planned(dense_).packs(kInBlock), packs);
    EXPECT_THAT(scripted_.timed, IsEmpty());
    std::filesystem::remove(file);
    std::filesystem::remove(file + ".lock");
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
