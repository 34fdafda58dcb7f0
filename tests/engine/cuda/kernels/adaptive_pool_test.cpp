// Compares adaptive average pools with the definition of their windows, in double.
#include "engine/cuda/kernels/average_pool.hpp"

#include <cmath>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr int kImages = 2;

// Returns the weight of input position `in` (of `size`) in output `out` (of `outputs`).
double weight(int in, int out, int size, int outputs) {
  const int first = static_cast<int>(std::floor(double{1} * out * size / outputs));
  const int last = static_cast<int>(std::ceil((out + 1.0) * size / outputs));
  return in >= first && in < last ? 1.0 / (last - first) : 0;
}

template <typename T, int V>
struct AdaptivePool {
  static constexpr int kChannels = 3 * V;
  PoolShape shape;
  Tensor<T> x, y, dy, dx;

  explicit AdaptivePool(const PoolShape& s)
      : shape(s),
        x(kImages * s.pixels(), kChannels, kChannels + V, V),
        y(kImages * s.out_pixels(), kChannels, kChannels + V),
        dy(kImages * s.out_pixels(), kChannels, kChannels + V),
        dx(kImages * s.pixels(), kChannels, kChannels + 2 * V, V) {
    x.randomize(1);
    dy.randomize(2);
    run_channels(AdaptiveAverage<T, V>{x.view(), y.view(), shape}, y.rows(), kChannels, V);
    run_channels(AdaptiveAverageBackward<T, V>{dy.view(), dx.view(), shape}, dx.rows(), kChannels, V);
  }
  double weight_between(int in, int out) const {
    return weight(in / shape.width, out / shape.out_width, shape.height, shape.out_height) *
           weight(in % shape.width, out % shape.out_width, shape.width, shape.out_width);
  }
};

template <typename M>
class AdaptivePoolOf : public testing::Test {};
TYPED_TEST_SUITE(AdaptivePoolOf, AllMoves);

// Covers fewer, equally many and more outputs than inputs, and sizes that do not divide.
TYPED_TEST(AdaptivePoolOf, IsTheMeanOfItsWindowsAndSharesItsGradient) {
  using T = typename TypeParam::Type;
  for (const auto& [height, width] : {std::pair{6, 6}, {1, 1}, {13, 7}, {4, 9}, {2, 18}}) {
    const AdaptivePool<T, TypeParam::kWidth> pool({.height = height, .width = width, .out_height = 6, .out_width = 6});
    for (int c = 0; c < pool.kChannels; ++c) {
      for (int image = 0; image < kImages; ++image) {
        std::vector<double> y(36), dx(static_cast<std::size_t>(height * width));
        for (int out = 0; out < 36; ++out) {
          for (int in = 0; in < height * width; ++in) {
            const double share = pool.weight_between(in, out);
            y[static_cast<std::size_t>(out)] += share * pool.x(image * height * width + in, c);
            dx[static_cast<std::size_t>(in)] += share * pool.dy(image * 36 + out, c);
          }
          ASSERT_NEAR(pool.y(image * 36 + out, c), y[static_cast<std::size_t>(out)], 2 * tolerance<T>());
        }
        for (int in = 0; in < height * width; ++in) {
          const double exact = dx[static_cast<std::size_t>(in)];
          ASSERT_NEAR(pool.dx(image * height * width + in, c), exact, tolerance<T>() * (1 + std::abs(exact)));
        }
      }
    }
    pool.y.expect_guards_untouched();
    pool.dx.expect_guards_untouched();
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
