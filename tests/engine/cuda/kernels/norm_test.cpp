// Compares batch norm, forward and backward, with norm_reference.hpp, and that with finite differences.
#include <limits>

#include "engine/cuda/kernels/norm_backward.hpp"
#include "norm_reference.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename M>
class Norm : public testing::Test {};
TYPED_TEST_SUITE(Norm, AllMoves);

// Activations have kinks. Near a kink, rounding decides on which side a value is, so the tests avoid such values.
bool near_kink(double value, Clamp clamp) {
  return std::abs(value - static_cast<double>(clamp.low)) < 0.03 ||
         std::abs(value - static_cast<double>(clamp.high)) < 0.03;
}

TYPED_TEST(Norm, ForwardNormalizesAddsAndClamps) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  for (Clamp clamp : {kNone, kRelu, kRelu6}) {
    for (int rows : {1, 3, 200}) {
      const int channels = 5 * kWidth;
      Tensor<T> x(rows, channels, channels + kWidth), residual(rows, channels),
          y(rows, channels, 2 * channels, channels);
      x.randomize(1, 1, 3);
      residual.randomize(2, 0, 4);
      const NormState norm(x);
      for (bool add : {false, true}) {
        if (add) {
          run_channels(Normalize<T, kWidth, true>{x.view(), residual.view(), y.view(), norm.parameters(), clamp}, rows,
                       channels, kWidth);
        } else {
          run_channels(Normalize<T, kWidth, false>{x.view(), {}, y.view(), norm.parameters(), clamp}, rows, channels,
                       kWidth);
        }
        for (int row = 0; row < rows; ++row) {
          for (int c = 0; c < channels; ++c) {
            const double expected = activated(norm.normalized(x(row, c), c) + (add ? residual(row, c) : 0), clamp);
            ASSERT_NEAR(y(row, c), expected, tolerance<T>() * (4 + std::abs(expected)));
          }
        }
        y.expect_guards_untouched();
      }
    }
  }
}

TYPED_TEST(Norm, ForwardMayOverwriteItsInput) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  Tensor<T> x(500, kWidth), y(500, kWidth);
  x.randomize(6);
  const NormState norm(x);
  run_channels(Normalize<T, kWidth, false>{x.view(), {}, y.view(), norm.parameters(), kRelu}, 500, kWidth, kWidth);
  run_channels(Normalize<T, kWidth, false>{x.view(), {}, x.view(), norm.parameters(), kRelu}, 500, kWidth, kWidth);
  for (int row = 0; row < 500; ++row) {
    for (int c = 0; c < kWidth; ++c) ASSERT_EQ(x(row, c), y(row, c));
  }
}

// A backward with both passes, and all tensors that it reads and writes.
template <typename T, int V>
struct Backward {
  Tensor<T> x, gradient, gradient2, residual, y, masked, dx;
  NormState norm;
  Clamp clamp;
  std::vector<float> weight_gradient, bias_gradient, b, c;

  Backward(int rows, int channels, Clamp clamp_)
      : x(rows, channels, channels + V),
        gradient(rows, channels, channels + V, V),
        gradient2(rows, channels),
        residual(rows, channels),
        y(rows, channels),
        masked(rows, channels, channels + V),
        dx(rows, channels, channels + 2 * V, V),
        norm(x.randomize(11, 1, 2)),
        clamp(clamp_),
        weight_gradient(static_cast<std::size_t>(channels)),
        bias_gradient(weight_gradient),
        b(weight_gradient),
        c(weight_gradient) {
    gradient.randomize(12);
    gradient2.randomize(13, 0.3, 1);
    residual.randomize(14);
    for (int row = 0; row < rows; ++row) {  // Away from the kinks.
      for (int channel = 0; channel < channels; ++channel) {
        if (near_kink(before(row, channel, false), clamp) || near_kink(before(row, channel, true), clamp)) {
          x.at(row, channel) = Element<T>::narrow(Element<T>::widen(x.at(row, channel)) + 0.5f);
          residual.at(row, channel) = Element<T>::narrow(0.4f);
        }
      }
    }
  }
  GradientFinish finish(bool frozen) {
    return {norm.parameters(),      static_cast<double>(x.rows()), frozen,   false,
            weight_gradient.data(), bias_gradient.data(),          b.data(), c.data()};
  }
  double before(int row, int channel, bool add) const {
    return norm.normalized(x(row, channel), channel) + (add ? residual(row, channel) : 0);
  }

  template <bool kOutput, bool kTwo>
  void run(bool frozen) {
    const int rows = x.rows(), channels = x.channels();
    const NormParameters p = norm.parameters();
    NormGradient<T> from{x.view(), {}, gradient.view(), {}, p, clamp};
    if (kTwo) from.gradient2 = gradient2.view();
    if (kOutput) {
      run_channels(Normalize<T, V, true>{x.view(), residual.view(), y.view(), p, clamp}, rows, channels, V);
      from.output = y.view();
    }
    run_sums(GradientSums<T, V, kOutput, kTwo>{from, masked.view()}, finish(frozen), rows, channels);
    if (kOutput) {
      from.gradient = masked.view();
      run_channels(GradientApply<T, V, true, false>{from, b.data(), c.data(), dx.view()}, rows, channels, V);
    } else {
      run_channels(GradientApply<T, V, false, kTwo>{from, b.data(), c.data(), dx.view()}, rows, channels, V);
    }
    expect<kOutput, kTwo>(frozen);
  }

  template <bool kOutput, bool kTwo>
  void expect(bool frozen) const {
    for (int channel = 0; channel < x.channels(); ++channel) {
      std::vector<double> g;
      for (int row = 0; row < x.rows(); ++row) {
        const double value = before(row, channel, kOutput);
        const double sum = gradient(row, channel) + (kTwo ? gradient2(row, channel) : 0);
        // If a value is still at the kink, the output of forward decides.
        const bool passed = kOutput ? passes(y(row, channel), clamp) : passes(value, clamp);
        g.push_back(passed ? sum : 0);
        if (kOutput) {
          ASSERT_NEAR(masked(row, channel), g.back(), tolerance<T>() * (1 + std::abs(g.back())));
        }
      }
      const ChannelGradient exact(norm, x, channel, g, frozen);
      const auto i = static_cast<std::size_t>(channel);
      const double sums = 1e-5 * x.rows() + 1e-5;
      ASSERT_NEAR(static_cast<double>(weight_gradient[i]), exact.weight, sums);
      ASSERT_NEAR(static_cast<double>(bias_gradient[i]), exact.bias, sums);
      for (int row = 0; row < x.rows(); ++row) {
        const double dx_exact = exact.dx[static_cast<std::size_t>(row)];
        ASSERT_NEAR(dx(row, channel), dx_exact, tolerance<T>() * (4 + std::abs(dx_exact))) << row << " " << channel;
      }
    }
    masked.expect_guards_untouched();
    dx.expect_guards_untouched();
  }
};

TYPED_TEST(Norm, BackwardIsThatOfPytorch) {
  for (Clamp clamp : {kNone, kRelu, kRelu6}) {
    for (int rows : {2, 63, 400}) {
      for (bool frozen : {false, true}) {
        Backward<typename TypeParam::Type, TypeParam::kWidth> backward(rows, 3 * TypeParam::kWidth, clamp);
        backward.template run<false, false>(frozen);
        backward.template run<false, true>(frozen);
        backward.template run<true, false>(frozen);
        backward.template run<true, true>(frozen);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Norm, BackwardMayOverwriteItsInputs) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  Backward<T, kWidth> apart(300, kWidth, kRelu), within(300, kWidth, kRelu);
  apart.template run<true, true>(false);
  const NormParameters p = within.norm.parameters();
  run_channels(Normalize<T, kWidth, true>{within.x.view(), within.residual.view(), within.y.view(), p, kRelu}, 300,
               kWidth, kWidth);
  NormGradient<T> from{within.x.view(), within.y.view(), within.gradient.view(), within.gradient2.view(), p, kRelu};
  run_sums(GradientSums<T, kWidth, true, true>{from, within.gradient.view()}, within.finish(false), 300, kWidth);
  run_channels(GradientApply<T, kWidth, true, false>{from, within.b.data(), within.c.data(), within.x.view()}, 300,
               kWidth, kWidth);
  for (int row = 0; row < 300; ++row) {
    for (int c = 0; c < kWidth; ++c) {
      ASSERT_EQ(within.gradient(row, c), apart.masked(row, c));
      ASSERT_EQ(within.x(row, c), apart.dx(row, c));
    }
  }
}

// Norms that share a dense block: the lazy form is the sum of the norms' separate results.
constexpr int kReaders = 5;
constexpr int kRows = 150;

template <typename T, typename S, int V>
void expect_sum_of_all_readers(double allowed) {
  constexpr int kChannels = 4 * V;
  Tensor<T> x(kRows, kChannels, kChannels + V), dx(kRows, kChannels, kChannels + V, V);
  Tensor<S> total(kRows, kChannels, kChannels + 2 * V, V);
  const NormState statistics(x.randomize(1, 0.5, 2));
  std::vector<float> b(kChannels, kGuard), c(kChannels, kGuard);  // The first norm must not add to them.
  std::vector<std::vector<double>> expected(kChannels, std::vector<double>(kRows, 0.0));

  for (int reader = 0; reader < kReaders; ++reader) {
    NormState norm = statistics;  // The same statistics, other parameters.
    norm.weight = random_values(kChannels, static_cast<unsigned>(30 + reader), -1.5f, 1.5f);
    norm.bias = random_values(kChannels, static_cast<unsigned>(40 + reader), -1, 1);
    // Backward starts with the last layer, which reads all channels; other layers read the first ones.
    const int channels = reader == 0 ? kChannels : (kReaders - reader) * V;
    Tensor<T> gradient(kRows, channels);
    gradient.randomize(static_cast<unsigned>(50 + reader));
    for (int channel = 0; channel < channels; ++channel) {
      std::vector<double> g;
      for (int row = 0; row < kRows; ++row) {
        const double value = norm.normalized(x(row, channel), channel);
        if (std::abs(value) < 0.03) gradient.at(row, channel) = Element<T>::narrow(0);  // No gradient at the kink.
        g.push_back(value > 0 ? gradient(row, channel) : 0);
      }
      const ChannelGradient exact(norm, x, channel, g);
      for (int row = 0; row < kRows; ++row) {
        expected[static_cast<std::size_t>(channel)][static_cast<std::size_t>(row)] +=
            exact.dx[static_cast<std::size_t>(row)];
      }
    }
    const NormParameters p = norm.parameters();
    const NormGradient<T> from{x.view(), {}, gradient.view(), {}, p, kRelu};
    std::vector<float> weight_gradient(kChannels), bias_gradient(kChannels);
    const GradientFinish finish{p,        kRows,   false, reader > 0, weight_gradient.data(), bias_gradient.data(),
                                b.data(), c.data()};
    if (reader == 0) {
      run_sums(LazyAccumulate<T, S, V, true>{from, total.view()}, finish, kRows, channels);
    } else {
      run_sums(LazyAccumulate<T, S, V, false>{from, total.view()}, finish, kRows, channels);
    }
  }
  run_channels(LazyApply<T, S, V>{x.view(), total.view(), b.data(), c.data(), dx.view()}, kRows, kChannels, V);

  for (int channel = 0; channel < kChannels; ++channel) {
    for (int row = 0; row < kRows; ++row) {
      const double exact = expected[static_cast<std::size_t>(channel)][static_cast<std::size_t>(row)];
      ASSERT_NEAR(dx(row, channel), exact, allowed * (4 + std::abs(exact))) << row << " " << channel;
    }
  }
  total.expect_guards_untouched();
  dx.expect_guards_untouched();
}

TYPED_TEST(Norm, LazyGivesTheSumOfAllReadersGradients) {
  using T = typename TypeParam::Type;
  expect_sum_of_all_readers<T, float, TypeParam::kWidth>(tolerance<T>());
  expect_sum_of_all_readers<T, T, TypeParam::kWidth>(2 * tolerance<T>());  // Each sum is rounded.
}

// Tests norm_reference.hpp itself: d(sum of dy y) / d(x, weight, bias), changing one value at a time.
TEST(NormReference, AgreesWithFiniteDifferences) {
  Tensor<float> x(9, 2);
  x.randomize(21, 0.4, 1.5);
  NormState norm(x);
  const std::vector<float> dy = random_values(18, 22, -1, 1);
  const auto weighed_sum = [&](const Tensor<float>& at, int channel, double shift_weight, double shift_bias, int moved,
                               double by) {
    double mean = 0, variance = 0, sum = 0;
    const auto value = [&](int row) { return at(row, channel) + (row == moved ? by : 0); };
    for (int row = 0; row < 9; ++row) mean += value(row) / 9;
    for (int row = 0; row < 9; ++row) variance += (value(row) - mean) * (value(row) - mean) / 9;
    for (int row = 0; row < 9; ++row) {
      const double normalized = (value(row) - mean) / std::sqrt(variance + static_cast<double>(kEpsilon));
      const double y = (norm.gamma(channel) + shift_weight) * normalized +
                       static_cast<double>(norm.bias[static_cast<std::size_t>(channel)]) + shift_bias;
      sum += static_cast<double>(dy[static_cast<std::size_t>(2 * row + channel)]) * activated(y, kRelu);
    }
    return sum;
  };
  for (int c = 0; c < 2; ++c) {
    std::vector<double> g;
    for (int row = 0; row < 9; ++row) {
      const bool pass = norm.normalized(x(row, c), c) > 0;
      g.push_back(pass ? static_cast<double>(dy[static_cast<std::size_t>(2 * row + c)]) : 0);
    }
    const ChannelGradient exact(norm, x, c, g);
    const double h = 1e-5;
    EXPECT_NEAR((weighed_sum(x, c, h, 0, -1, 0) - weighed_sum(x, c, -h, 0, -1, 0)) / (2 * h), exact.weight, 1e-6);
    EXPECT_NEAR((weighed_sum(x, c, 0, h, -1, 0) - weighed_sum(x, c, 0, -h, -1, 0)) / (2 * h), exact.bias, 1e-6);
    for (int row = 0; row < 9; ++row) {
      const double slope = (weighed_sum(x, c, 0, 0, row, h) - weighed_sum(x, c, 0, 0, row, -h)) / (2 * h);
      EXPECT_NEAR(slope, exact.dx[static_cast<std::size_t>(row)], 1e-6);
    }
  }
}

TYPED_TEST(Norm, NanStaysNanForwardAndBackward) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  Backward<T, kWidth> backward(40, kWidth, kRelu);
  backward.x.at(7, 0) = Element<T>::narrow(std::nanf(""));
  const NormParameters p = backward.norm.parameters();
  run_channels(Normalize<T, kWidth, false>{backward.x.view(), {}, backward.y.view(), p, kRelu}, 40, kWidth, kWidth);
  EXPECT_TRUE(std::isnan(backward.y(7, 0)));
  const NormGradient<T> from{backward.x.view(), {}, backward.gradient.view(), {}, p, kRelu};
  run_sums(GradientSums<T, kWidth, false, false>{from, {}}, backward.finish(false), 40, kWidth);
  EXPECT_TRUE(std::isnan(backward.weight_gradient[0]));
  EXPECT_TRUE(std::isfinite(backward.bias_gradient[0]));  // Its gradient passed and is finite.
  EXPECT_EQ(static_cast<double>(passed(3.0f, std::nanf(""), kRelu)), 3.0);
}

TEST(GradientFinish, FrozenNormsHaveNoTermsOfStatisticsEvenWhereSumsAreNan) {
  const float mean = 1, variance = 2, weight = 3, bias = 4;
  float dw = 0, db = 0, b = 5, c = 6;
  const GradientFinish finish{{&mean, &variance, &weight, &bias, kEpsilon}, 10, true, true, &dw, &db, &b, &c};
  finish.write(0, {std::nan(""), std::nan("")});
  EXPECT_TRUE(std::isnan(dw) && std::isnan(db));
  EXPECT_EQ(b, 5);
  EXPECT_EQ(c, 6);
}

template <typename T>
class AffineOf : public testing::Test {};
using ElementTypes = testing::Types<float, Half, BFloat16>;
TYPED_TEST_SUITE(AffineOf, ElementTypes);

TYPED_TEST(AffineOf, AScaleAndAShiftAreTheNorm) {
  const std::vector<float> mean{1, -2}, variance{4, 0.25f}, weight{3, -1}, bias{0.5f, 2};
  TypeParam scale[2], shift[2];
  run_calls(WriteAffine<TypeParam>{{mean.data(), variance.data(), weight.data(), bias.data(), 0}, scale, shift}, 2);
  for (std::size_t c = 0; c < 2; ++c) {
    for (const float x : {-1.0f, 0.0f, 5.0f}) {
      const double exact = static_cast<double>(weight[c] * (x - mean[c]) / std::sqrt(variance[c]) + bias[c]);
      const double found =
          static_cast<double>(Element<TypeParam>::widen(scale[c]) * x + Element<TypeParam>::widen(shift[c]));
      EXPECT_NEAR(found, exact, tolerance<TypeParam>() * (1 + std::abs(exact)));
    }
  }
}

TYPED_TEST(AffineOf, ComesWithTheMomentsAsFromAKernelOfItsOwn) {
  const std::vector<float> sum{6, -15}, squares{14, 75.5f}, weight{3, -1}, bias{0.5f, 2};
  float mean[2], variance[2], inverse[2], expected_mean[2], expected_variance[2];
  TypeParam scale[2], shift[2], expected_scale[2], expected_shift[2];
  const MomentsOfSums apart{sum.data(), squares.data(), {3, expected_mean, expected_variance}};
  run_calls(apart, 2);
  run_calls(
      WriteAffine<TypeParam>{
          {expected_mean, expected_variance, weight.data(), bias.data(), kEpsilon}, expected_scale, expected_shift},
      2);
  const MomentsOfSums moments{sum.data(), squares.data(), {3, mean, variance, inverse, kEpsilon}};
  run_calls(
      MomentsAndAffine<TypeParam>{moments, {{mean, variance, weight.data(), bias.data(), kEpsilon}, scale, shift}}, 2);
  for (int c = 0; c < 2; ++c) {
    EXPECT_EQ(mean[c], expected_mean[c]);
    EXPECT_EQ(variance[c], expected_variance[c]);
    EXPECT_EQ(inverse[c], inverse_deviation(expected_variance[c], kEpsilon));
    EXPECT_EQ(Element<TypeParam>::widen(scale[c]), Element<TypeParam>::widen(expected_scale[c]));
    EXPECT_EQ(Element<TypeParam>::widen(shift[c]), Element<TypeParam>::widen(expected_shift[c]));
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
