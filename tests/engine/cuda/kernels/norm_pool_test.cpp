// A norm with a pool in one pass, compared with separate passes of the norm and the pool: forward gives the same bits,
// backward the same values except for the order of its sums.
#include "engine/cuda/kernels/norm_pool.hpp"

#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "norm_reference.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr int kImages = 3;

PoolShape shape_of(int height, int width, int kernel, int padding, bool ceil = false) {
  const auto out = [&](int size) { return (size + 2 * padding - kernel + (ceil ? 1 : 0)) / 2 + 1; };
  return {height, width, out(height), out(width), kernel, 2, padding};
}

const std::vector<PoolShape>& max_shapes() {
  static const std::vector<PoolShape> shapes{shape_of(8, 8, 3, 1),      shape_of(7, 9, 3, 1), shape_of(1, 1, 3, 1),
                                             shape_of(2, 5, 3, 1),      shape_of(7, 5, 3, 0), shape_of(8, 6, 3, 0),
                                             shape_of(8, 6, 3, 0, true)};
  return shapes;
}
const std::vector<PoolShape>& average_shapes() {
  static const std::vector<PoolShape> shapes{shape_of(8, 6, 2, 0), shape_of(7, 9, 2, 0), shape_of(2, 3, 2, 0)};
  return shapes;
}

// A norm of 3 V channels of a wider map, and the pool after it.
template <typename T, int V, bool kMax>
struct NormAndPool {
  static constexpr int kChannels = 3 * V, kKernel = kMax ? 3 : 2;
  PoolShape shape;
  Tensor<T> x, dy;
  NormState norm;
  Clamp clamp;

  NormAndPool(const PoolShape& s, Clamp clamp_)
      : shape(s),
        x(kImages * s.pixels(), kChannels, kChannels + V, V),
        dy(kImages * s.out_pixels(), kChannels, kChannels + 2 * V, V),
        norm(x.randomize(1, 1, 2)),
        clamp(clamp_) {
    dy.randomize(2);
  }

  struct Pooled {
    Tensor<T> y;
    std::vector<std::uint8_t> winner;

    explicit Pooled(int rows)
        : y(rows, kChannels, kChannels + V), winner(static_cast<std::size_t>(rows) * kChannels, 99) {}
  };
  template <typename Values>
  Pooled pool(const Tensor<T>& from, const Values& values) const {
    Pooled pooled(dy.rows());
    if constexpr (kMax) {
      run_channels(
          MaxPool<T, V, kKernel, Values>{
              from.view(), pooled.y.view(), {pooled.winner.data(), kChannels}, shape, values},
          dy.rows(), kChannels, V);
    } else {
      run_channels(AveragePool<T, V, kKernel, Values>{from.view(), pooled.y.view(), shape, values}, dy.rows(),
                   kChannels, V);
    }
    pooled.y.expect_guards_untouched();
    return pooled;
  }
  Pooled forward() const { return pool(x, NormedValues<T, V>{norm.parameters(), clamp}); }
  Pooled forward_apart() const {
    Tensor<T> activated(x.rows(), kChannels);
    run_channels(Normalize<T, V, false>{x.view(), {}, activated.view(), norm.parameters(), clamp}, x.rows(), kChannels,
                 V);
    return pool(activated, StoredValues<T, V>{});
  }

  // The results of backward. `dx` is the gradient of the norm's input, or a lazy norm's addend to its block's.
  struct Gradients {
    Tensor<T> dx;
    std::vector<float> weight, bias, b, c;

    explicit Gradients(int rows)
        : dx(rows, kChannels, kChannels + V, V), weight(kChannels, kGuard), bias(weight), b(weight), c(weight) {}
    GradientFinish finish(const NormState& norm, bool frozen) {
      return {norm.parameters(), static_cast<double>(dx.rows()), frozen, false, weight.data(), bias.data(), b.data(),
              c.data()};
    }
  };
  NormGradient<T> from(const Tensor<T>* gradient) const {
    NormGradient<T> result{x.view(), {}, {}, {}, norm.parameters(), clamp};
    if (gradient != nullptr) result.gradient = gradient->view();
    return result;
  }
  template <typename Pass>
  OverPatches<Pass, T, V, kMax> over_patches(const Pass& pass, const std::vector<std::uint8_t>& winner) const {
    return {pass, dy.view(), {winner.data(), kChannels}, {shape}};
  }

  Gradients backward(const std::vector<std::uint8_t>& winner, bool frozen) const {
    Gradients result(x.rows());
    const auto sums = over_patches(GradientSums<T, V, false, false>{from(nullptr), {}}, winner);
    run_sums(sums, result.finish(norm, frozen), sums.rows(kImages), kChannels);
    const auto apply = over_patches(
        GradientApply<T, V, false, false>{from(nullptr), result.b.data(), result.c.data(), result.dx.view()}, winner);
    run_channels(apply, apply.rows(kImages), kChannels, V);
    result.dx.expect_guards_untouched();
    return result;
  }
  Gradients backward_lazy(const std::vector<std::uint8_t>& winner) const {
    Gradients result(x.rows());
    const auto pass = over_patches(LazyAccumulate<T, T, V, true>{from(nullptr), result.dx.view()}, winner);
    run_sums(pass, result.finish(norm, false), pass.rows(kImages), kChannels);
    result.dx.expect_guards_untouched();
    return result;
  }

  Tensor<T> pool_gradient(const std::vector<std::uint8_t>& winner) const {
    Tensor<T> result(x.rows(), kChannels);
    if constexpr (kMax) {
      run_channels(MaxPoolBackward<T, V>{dy.view(), {winner.data(), kChannels}, result.view(), shape}, x.rows(),
                   kChannels, V);
    } else {
      run_channels(AveragePoolBackward<T, V>{dy.view(), result.view(), shape}, x.rows(), kChannels, V);
    }
    return result;
  }
  Gradients backward_apart(const std::vector<std::uint8_t>& winner, bool frozen) const {
    Gradients result(x.rows());
    const Tensor<T> gradient = pool_gradient(winner);
    run_sums(GradientSums<T, V, false, false>{from(&gradient), {}}, result.finish(norm, frozen), x.rows(), kChannels);
    run_channels(GradientApply<T, V, false, false>{from(&gradient), result.b.data(), result.c.data(), result.dx.view()},
                 x.rows(), kChannels, V);
    return result;
  }
  Gradients backward_lazy_apart(const std::vector<std::uint8_t>& winner) const {
    Gradients result(x.rows());
    const Tensor<T> gradient = pool_gradient(winner);
    run_sums(LazyAccumulate<T, T, V, true>{from(&gradient), result.dx.view()}, result.finish(norm, false), x.rows(),
             kChannels);
    return result;
  }
};

void expect_near(const std::vector<float>& values, const std::vector<float>& expected, double allowed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto exact = static_cast<double>(expected[i]);
    ASSERT_NEAR(static_cast<double>(values[i]), exact, allowed * (1 + std::abs(exact))) << i;
  }
}

template <typename T>
void expect_equal(const Tensor<T>& values, const Tensor<T>& expected) {
  for (int row = 0; row < values.rows(); ++row) {
    for (int c = 0; c < values.channels(); ++c) {
      if (std::isnan(expected(row, c))) {
        ASSERT_TRUE(std::isnan(values(row, c))) << row << " " << c;
      } else {
        ASSERT_EQ(values(row, c), expected(row, c)) << row << " " << c;
      }
    }
  }
}

// Sums differ in their last bits, which may move a rounded value by one step.
template <typename Gradients, typename T>
void expect_same(const Gradients& values, const Gradients& expected, const Tensor<T>& of) {
  const double sums = 1e-6 * of.rows();
  expect_near(values.weight, expected.weight, sums);
  expect_near(values.bias, expected.bias, sums);
  expect_near(values.b, expected.b, sums);
  expect_near(values.c, expected.c, sums);
  for (int row = 0; row < of.rows(); ++row) {
    for (int c = 0; c < of.channels(); ++c) {
      const double exact = expected.dx(row, c);
      ASSERT_NEAR(values.dx(row, c), exact, tolerance<T>() * (1 + std::abs(exact))) << row << " " << c;
    }
  }
}

template <typename M>
class NormPool : public testing::Test {
 protected:
  template <bool kMax>
  static void expect_as_apart(const PoolShape& shape) {
    for (const Clamp clamp : {kNone, kRelu, kRelu6}) {
      const NormAndPool<typename M::Type, M::kWidth, kMax> both(shape, clamp);
      const auto pooled = both.forward(), apart = both.forward_apart();
      expect_equal(pooled.y, apart.y);
      ASSERT_EQ(pooled.winner, apart.winner);
      for (const bool frozen : {false, true})
        expect_same(both.backward(pooled.winner, frozen), both.backward_apart(pooled.winner, frozen), both.x);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
};
TYPED_TEST_SUITE(NormPool, AllMoves);

TYPED_TEST(NormPool, WithAMaxPoolComputesWhatBothDoApart) {
  for (const PoolShape& shape : max_shapes()) {
    ASSERT_TRUE(norm_takes_max_pool(shape));
    this->template expect_as_apart<true>(shape);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(NormPool, WithAnAveragePoolComputesWhatBothDoApart) {
  for (const PoolShape& shape : average_shapes()) {
    ASSERT_TRUE(norm_takes_average_pool(shape));
    this->template expect_as_apart<false>(shape);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// A lazy norm's addend does not depend on the sums, so it is the same bit for bit.
TYPED_TEST(NormPool, WithAnAveragePoolBeginsTheGradientOfADenseBlock) {
  for (const PoolShape& shape : average_shapes()) {
    const NormAndPool<typename TypeParam::Type, TypeParam::kWidth, false> both(shape, kRelu);
    const auto together = both.backward_lazy({}), apart = both.backward_lazy_apart({});
    expect_equal(together.dx, apart.dx);
    expect_same(together, apart, both.x);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// ReLU makes many values of a window equal, and rounding makes more.
TYPED_TEST(NormPool, OfEqualMaximaTheSameWinsAsApart) {
  NormAndPool<typename TypeParam::Type, TypeParam::kWidth, true> both(max_shapes()[1], kRelu);
  both.x.fill([](int row, int c) { return 1.0 + 1e-4 * ((row + c) % 5); });
  const auto pooled = both.forward(), apart = both.forward_apart();
  expect_equal(pooled.y, apart.y);
  EXPECT_EQ(pooled.winner, apart.winner);
}

TYPED_TEST(NormPool, NanGoesTheSameWayAsApart) {
  using T = typename TypeParam::Type;
  NormAndPool<T, TypeParam::kWidth, true> max(max_shapes()[0], kRelu);
  NormAndPool<T, TypeParam::kWidth, false> average(average_shapes()[0], kRelu);
  max.x.at(27, 1) = average.x.at(9, 1) = Element<T>::narrow(std::nanf(""));
  const auto maxima = max.forward(), maxima_apart = max.forward_apart();
  expect_equal(maxima.y, maxima_apart.y);
  EXPECT_EQ(maxima.winner, maxima_apart.winner);
  EXPECT_TRUE(std::isnan(maxima.y(5, 1)));
  expect_equal(average.forward().y, average.forward_apart().y);
  const auto gradients = max.backward(maxima.winner, false), apart = max.backward_apart(maxima.winner, false);
  EXPECT_TRUE(std::isnan(gradients.weight[1]) && std::isnan(apart.weight[1]));
  EXPECT_FALSE(std::isnan(gradients.bias[1]));
  EXPECT_TRUE(std::isnan(gradients.dx(27, 1)));
  EXPECT_FALSE(std::isnan(gradients.dx(27, 0)));
}

TYPED_TEST(NormPool, BackwardMayOverwriteTheNormsInput) {
  using T = typename TypeParam::Type;
  constexpr int V = TypeParam::kWidth;
  NormAndPool<T, V, true> both(max_shapes()[1], kRelu);
  const auto winner = both.forward().winner;
  auto expected = both.backward(winner, false);
  const auto apply = both.over_patches(
      GradientApply<T, V, false, false>{both.from(nullptr), expected.b.data(), expected.c.data(), both.x.view()},
      winner);
  run_channels(apply, apply.rows(kImages), both.kChannels, V);
  expect_equal(both.x, expected.dx);
}

TEST(NormPoolCheck, KnowsTheWindowsThatKernelsHave) {
  EXPECT_FALSE(norm_takes_max_pool({8, 8, 8, 8, 3, 1, 1}));
  EXPECT_FALSE(norm_takes_max_pool({8, 8, 4, 4, 2, 2, 0}));
  EXPECT_FALSE(norm_takes_average_pool({8, 8, 5, 5, 2, 2, 1}));
  EXPECT_FALSE(norm_takes_average_pool({8, 8, 4, 4, 3, 2, 1}));
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
