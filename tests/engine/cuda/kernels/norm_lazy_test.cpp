// Norms that share a dense block: compares the lazy form with the sum of the norms' separate results.
#include "engine/cuda/kernels/norm_backward.hpp"

#include "norm_reference.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

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

template <typename M>
class LazyNorm : public testing::Test {};
TYPED_TEST_SUITE(LazyNorm, AllMoves);

TYPED_TEST(LazyNorm, GivesTheSumOfAllReadersGradients) {
  using T = typename TypeParam::Type;
  expect_sum_of_all_readers<T, float, TypeParam::kWidth>(tolerance<T>());
}

TYPED_TEST(LazyNorm, GivesThemInTheElementTypeToo) {
  using T = typename TypeParam::Type;
  expect_sum_of_all_readers<T, T, TypeParam::kWidth>(2 * tolerance<T>());  // Each sum is rounded.
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
