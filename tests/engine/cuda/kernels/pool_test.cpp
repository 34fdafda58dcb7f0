// Compares pools with loops over windows in double, and backward with the definition of a gradient.
#include <cmath>
#include <limits>

#include "core/errors.hpp"
#include "emulation.hpp"
#include "engine/cuda/kernels/average_pool.hpp"
#include "engine/cuda/kernels/max_pool.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr int kImages = 2;

PoolShape pool(int height, int width, int kernel, int stride, int padding) {
  const auto out = [&](int size) { return (size + 2 * padding - kernel) / stride + 1; };
  return {height, width, out(height), out(width), kernel, stride, padding};
}

const std::vector<PoolShape>& max_shapes() {
  static const std::vector<PoolShape> shapes{pool(8, 8, 3, 2, 1), pool(7, 9, 3, 2, 1), pool(1, 1, 3, 2, 1),
                                             pool(5, 6, 3, 1, 1), pool(6, 5, 2, 2, 0), pool(5, 5, 3, 2, 0)};
  return shapes;
}
const std::vector<PoolShape>& average_shapes() {
  static const std::vector<PoolShape> shapes{pool(8, 6, 2, 2, 0), pool(7, 9, 2, 2, 0), pool(2, 3, 2, 2, 0),
                                             pool(6, 6, 3, 2, 1)};
  return shapes;
}

// Calls body(row of the input, place in the window) for each position of an output's window, in order.
template <typename Body>
void for_window(const PoolShape& s, int image, int y, int x, const Body& body) {
  for (int i = 0; i < s.kernel * s.kernel; ++i) {
    const int h = y * s.stride - s.padding + i / s.kernel, w = x * s.stride - s.padding + i % s.kernel;
    if (h >= 0 && h < s.height && w >= 0 && w < s.width) body((image * s.height + h) * s.width + w, i);
  }
}
template <typename Body>
void for_outputs(const PoolShape& s, const Body& body) {
  for (int image = 0; image < kImages; ++image) {
    for (int y = 0; y < s.out_height; ++y) {
      for (int x = 0; x < s.out_width; ++x) body(image, y, x, (image * s.out_height + y) * s.out_width + x);
    }
  }
}

template <typename T, int V>
struct Pool {
  static constexpr int kChannels = 3 * V;
  PoolShape shape;
  Tensor<T> x, y, dy, dx;
  std::vector<std::uint8_t> winner;

  explicit Pool(const PoolShape& s)
      : shape(s),
        x(kImages * s.pixels(), kChannels, kChannels + V, V),
        y(kImages * s.out_pixels(), kChannels, kChannels + V),
        dy(kImages * s.out_pixels(), kChannels, kChannels + V),
        dx(kImages * s.pixels(), kChannels, kChannels + 2 * V, V),
        winner(static_cast<std::size_t>(y.rows()) * kChannels) {
    x.randomize(1);
    dy.randomize(2);
  }
  void max_forward() {
    if (shape.kernel == 3) {
      run_channels(MaxPool<T, V, 3>{x.view(), y.view(), {winner.data(), kChannels}, shape}, y.rows(), kChannels, V);
    } else {
      run_channels(MaxPool<T, V, 2>{x.view(), y.view(), {winner.data(), kChannels}, shape}, y.rows(), kChannels, V);
    }
  }
  void max_backward() {
    run_channels(MaxPoolBackward<T, V>{dy.view(), {winner.data(), kChannels}, dx.view(), shape}, dx.rows(), kChannels,
                 V);
  }
  void average_forward() {
    if (shape.kernel == 3) {
      run_channels(AveragePool<T, V, 3>{x.view(), y.view(), shape}, y.rows(), kChannels, V);
    } else {
      run_channels(AveragePool<T, V, 2>{x.view(), y.view(), shape}, y.rows(), kChannels, V);
    }
  }
};

template <typename M>
class PoolOf : public testing::Test {};
TYPED_TEST_SUITE(PoolOf, AllMoves);

TYPED_TEST(PoolOf, MaxTakesTheLargestAndItsGradientGoesThere) {
  for (const PoolShape& shape : max_shapes()) {
    Pool<typename TypeParam::Type, TypeParam::kWidth> pool(shape);
    pool.max_forward();
    pool.max_backward();
    std::vector<std::vector<double>> dx(static_cast<std::size_t>(pool.x.rows()), std::vector<double>(pool.kChannels));
    for_outputs(shape, [&](int image, int oy, int ox, int row) {
      for (int c = 0; c < pool.kChannels; ++c) {
        int best = -1;
        for_window(shape, image, oy, ox, [&](int in, int) {
          if (best < 0 || pool.x(in, c) > pool.x(best, c)) best = in;
        });
        ASSERT_EQ(pool.y(row, c), pool.x(best, c));
        dx[static_cast<std::size_t>(best)][static_cast<std::size_t>(c)] += pool.dy(row, c);
      }
    });
    for (int row = 0; row < pool.x.rows(); ++row) {
      for (int c = 0; c < pool.kChannels; ++c) {
        const double exact = dx[static_cast<std::size_t>(row)][static_cast<std::size_t>(c)];
        ASSERT_NEAR(pool.dx(row, c), exact, tolerance<typename TypeParam::Type>() * (1 + std::abs(exact)));
      }
    }
    pool.y.expect_guards_untouched();
    pool.dx.expect_guards_untouched();
  }
}

TYPED_TEST(PoolOf, OfEqualMaximaTheFirstGetsTheGradient) {
  Pool<typename TypeParam::Type, TypeParam::kWidth> pool(max_shapes()[1]);
  const double lowest = -std::numeric_limits<double>::infinity();
  for (const double value : {0.0, lowest}) {
    pool.x.fill([&](int, int) { return value; });
    pool.max_forward();
    for_outputs(pool.shape, [&](int image, int oy, int ox, int row) {
      int first = -1;
      for_window(pool.shape, image, oy, ox, [&](int, int place) { first = first < 0 ? place : first; });
      for (int c = 0; c < pool.kChannels; ++c) {
        ASSERT_EQ(pool.winner[static_cast<std::size_t>(row) * pool.kChannels + c], first);
        ASSERT_EQ(pool.y(row, c), value);
      }
    });
  }
}

TYPED_TEST(PoolOf, NanWinsItsWindowsAndGetsTheirGradient) {
  using T = typename TypeParam::Type;
  Pool<T, TypeParam::kWidth> pool(max_shapes()[0]);
  const int in = 3 * 8 + 3;  // In four windows.
  pool.x.at(in, 1) = Element<T>::narrow(std::nanf(""));
  pool.dy.fill([](int, int) { return 1; });
  pool.max_forward();
  pool.max_backward();
  for (int oy : {1, 2}) {
    for (int ox : {1, 2}) EXPECT_TRUE(std::isnan(pool.y(oy * 4 + ox, 1)));
  }
  EXPECT_EQ(pool.dx(in, 1), 4);
  EXPECT_FALSE(std::isnan(pool.y(5, 0)));
}

TYPED_TEST(PoolOf, AverageCountsPaddingAsZeroAndSharesItsGradient) {
  using T = typename TypeParam::Type;
  for (const PoolShape& shape : average_shapes()) {
    Pool<T, TypeParam::kWidth> pool(shape);
    pool.average_forward();
    run_channels(AveragePoolBackward<T, TypeParam::kWidth>{pool.dy.view(), pool.dx.view(), shape}, pool.dx.rows(),
                 pool.kChannels, TypeParam::kWidth);
    std::vector<std::vector<double>> dx(static_cast<std::size_t>(pool.x.rows()), std::vector<double>(pool.kChannels));
    const double share = 1.0 / (shape.kernel * shape.kernel);
    for_outputs(shape, [&](int image, int oy, int ox, int row) {
      for (int c = 0; c < pool.kChannels; ++c) {
        double sum = 0;
        for_window(shape, image, oy, ox, [&](int in, int) {
          sum += pool.x(in, c);
          dx[static_cast<std::size_t>(in)][static_cast<std::size_t>(c)] += share * pool.dy(row, c);
        });
        ASSERT_NEAR(pool.y(row, c), sum * share, tolerance<T>());
      }
    });
    for (int row = 0; row < pool.x.rows(); ++row) {
      for (int c = 0; c < pool.kChannels; ++c) {
        ASSERT_NEAR(pool.dx(row, c), dx[static_cast<std::size_t>(row)][static_cast<std::size_t>(c)], tolerance<T>());
      }
    }
    pool.dx.expect_guards_untouched();
  }
}

TYPED_TEST(PoolOf, GlobalAverageIsTheMeanOfEachImageAndSpreadsItsGradient) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth, kChannels = 3 * kWidth;
  for (int pixels : {1, 6, 49}) {
    for (int images : {1, 5}) {
      Tensor<T> x(images * pixels, kChannels, kChannels + kWidth, kWidth), mean(images, kChannels);
      Tensor<T> dmean(images, kChannels), dx(images * pixels, kChannels, kChannels + kWidth);
      x.randomize(3, 1);
      dmean.randomize(4);
      run_channels(GlobalAverage<T, kWidth>{x.view(), mean.view(), pixels}, images, kChannels, kWidth);
      run_channels(GlobalAverageBackward<T, kWidth>{dmean.view(), dx.view(), pixels}, images * pixels, kChannels,
                   kWidth);
      for (int image = 0; image < images; ++image) {
        for (int c = 0; c < kChannels; ++c) {
          double sum = 0;
          for (int pixel = 0; pixel < pixels; ++pixel) {
            sum += x(image * pixels + pixel, c);
            ASSERT_NEAR(dx(image * pixels + pixel, c), dmean(image, c) / pixels, tolerance<T>());
          }
          ASSERT_NEAR(mean(image, c), sum / pixels, 2 * tolerance<T>());
        }
      }
      dx.expect_guards_untouched();
    }
  }
}

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

// Covers fewer, equally many and more outputs than inputs, and sizes that do not divide.
TYPED_TEST(PoolOf, AdaptiveIsTheMeanOfItsWindowsAndSharesItsGradient) {
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

TEST(PoolCheck, RefusesWindowsThatNoKernelHas) {
  EXPECT_NO_THROW(check_pool(pool(8, 8, 3, 2, 1)));
  EXPECT_NO_THROW(check_pool(pool(8, 8, 2, 2, 0)));
  EXPECT_THROW(check_pool(pool(8, 8, 5, 2, 1)), DeviceError);
  EXPECT_THROW(check_pool(pool(8, 8, 3, 2, 2)), DeviceError);  // More padding than half the window.
  EXPECT_THROW(check_pool({8, 8, 8, 8, 3, 0, 0}), DeviceError);
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
