#include "engine/onednn/norm_ops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>

namespace chexbench::engine::onednn {
namespace {

using testing::Each;

class NormStateTest : public testing::Test {
 protected:
  // A norm whose channels fill one block and three channels of a second.
  NormState make(bool frozen, double epsilon = 1e-5) {
    mode_.running_statistics = frozen;
    NormState state({.name = "bn", .channels = device_.block + 3, .epsilon = epsilon}, device_.block, mode_);
    state.add_parameters(store_);
    store_.allocate();
    for (const auto& slot : store_.slots()) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(slot->info.count()); ++i) slot->weights[i] = 2;
    }
    return state;
  }
  // Returns sums in which every lane has those of `values`.
  static ChannelSums sums(std::initializer_list<double> values) {
    ChannelSums result;
    for (int lane = 0; lane < kMaxBlock; ++lane) {
      for (const double value : values) {
        result.first[lane] += value;
        result.second[lane] += value * value;
      }
    }
    return result;
  }
  static float running(NormState& state, std::size_t which, int channel) {
    return state.buffers().at(which).values->at(static_cast<std::size_t>(channel));
  }

  PassMode mode_;
  Device device_ = make_device(spec::Precision::f32);
  ParameterStore store_{device_};
};

TEST_F(NormStateTest, RunningVarianceIsUnbiasedWhileTheNormUsesTheBiasedOne) {
  NormState state = make(false);
  state.set_from_sums(0, sums({1, 2, 3, 6}), 4);  // mean 3, variance 3.5, unbiased 14 / 3
  EXPECT_FLOAT_EQ(running(state, 0, 0), 0.3f);
  EXPECT_FLOAT_EQ(running(state, 1, 0), static_cast<float>(0.9 + 0.1 * 14 / 3));
  EXPECT_FLOAT_EQ(state.scale()[0], static_cast<float>(2 / std::sqrt(3.5 + 1e-5)));
  EXPECT_FLOAT_EQ(state.shift()[0], static_cast<float>(2 - 3 * 2 / std::sqrt(3.5 + 1e-5)));
  state.set_from_sums(0, sums({-1, -1}), 2);
  EXPECT_FLOAT_EQ(running(state, 0, 0), static_cast<float>(0.9 * 0.3 - 0.1));
  EXPECT_FLOAT_EQ(running(state, 1, 0), static_cast<float>(0.9 * (0.9 + 0.1 * 14 / 3)));
}

TEST_F(NormStateTest, OneValueAChannelHasNoUnbiasedVarianceAndStaysFinite) {
  NormState state = make(false);
  state.set_from_sums(0, sums({5}), 1);
  EXPECT_FLOAT_EQ(running(state, 1, 0), 0.9f);
  EXPECT_FLOAT_EQ(state.scale()[0], static_cast<float>(2 / std::sqrt(1e-5)));
}

TEST_F(NormStateTest, RoundingNeverMakesAVarianceNegative) {
  EXPECT_EQ(Moments::of(3, 3 - 1e-12, 3).variance, 0);
  EXPECT_EQ(Moments::of(3, 3 - 1e-12, 3).mean, 1);
}

TEST_F(NormStateTest, FrozenNormalizesByTheRunningStatisticsAndLeavesThem) {
  NormState state = make(true);
  (*state.buffers()[0].values)[1] = 4;
  (*state.buffers()[1].values)[1] = 9;
  state.set_from_sums(0, sums({1, 2, 3, 6}), 4);
  EXPECT_EQ(running(state, 0, 1), 4);
  EXPECT_EQ(running(state, 1, 1), 9);
  EXPECT_FLOAT_EQ(state.scale()[1], static_cast<float>(2 / std::sqrt(9 + 1e-5)));
  EXPECT_FLOAT_EQ(state.shift()[1], static_cast<float>(2 - 4 * 2 / std::sqrt(9 + 1e-5)));
  state.set_gradients(0, sums({1, 2}), 4);
  EXPECT_THAT(std::span(state.b(), static_cast<std::size_t>(device_.block)), Each(0.0f));
  EXPECT_THAT(std::span(state.c(), static_cast<std::size_t>(device_.block)), Each(0.0f));
  EXPECT_EQ(store_.slot("bn.bias").gradient[1], 3);
}

TEST_F(NormStateTest, LanesBeyondTheLastChannelAreNeitherReadNorWritten) {
  NormState state = make(false);
  ChannelSums last = sums({1, 2, 3, 6});
  for (int lane = 3; lane < kMaxBlock; ++lane) {
    last.first[lane] = last.second[lane] = std::numeric_limits<double>::quiet_NaN();
  }
  state.set_from_sums(1, last, 4);
  state.set_gradients(1, last, 4);
  EXPECT_FLOAT_EQ(running(state, 0, device_.block + 2), 0.3f);
  for (const auto& slot : store_.slots()) {
    const std::span gradient(slot->gradient, slot->count);
    const auto channels = static_cast<std::size_t>(device_.block) + 3;
    EXPECT_NE(gradient[channels - 1], 0.0f);
    EXPECT_THAT(gradient.subspan(channels), Each(0.0f)) << slot->info.name;
  }
}

// The output of a norm does not change if its input is shifted or scaled, so the gradient of the input is orthogonal to
// both directions.
TEST_F(NormStateTest, TheInputsGradientIsOrthogonalToShiftsAndScalings) {
  NormState state = make(false, 0.0);
  constexpr double kX[] = {1, 2, 3, 6}, kG[] = {0.5, -1, 2, 0.25};
  state.set_from_sums(0, sums({1, 2, 3, 6}), 4);
  ChannelSums of_gradient;
  for (int i = 0; i < 4; ++i) {
    of_gradient.first[0] += kG[i];
    of_gradient.second[0] += kG[i] * (kX[i] - 3);
  }
  state.set_gradients(0, of_gradient, 4);
  const auto a = static_cast<double>(state.gradient_factor()[0]);
  double shift = 0, scaling = 0, squares = 0;
  for (int i = 0; i < 4; ++i) {
    const double dx = a * kG[i] + static_cast<double>(state.b()[0]) * kX[i] + static_cast<double>(state.c()[0]);
    shift += dx;
    scaling += dx * (kX[i] - 3);
    squares += dx * dx;
  }
  EXPECT_NEAR(shift, 0, 1e-6);
  EXPECT_NEAR(scaling, 0, 1e-6);
  EXPECT_GT(squares, 1);
}

}  // namespace
}  // namespace chexbench::engine::onednn
