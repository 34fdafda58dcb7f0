// Compares the kernels of every instruction set with formulas in double, over layouts and odd sizes.
#include "engine/onednn/kernels.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/random.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr int kImages = 2, kHeight = 5, kWidth = 7, kPixels = kHeight * kWidth;
constexpr Clamp kRelu{0.0f, std::numeric_limits<float>::infinity()};

// A tensor of two channel blocks, blocked or in NHWC, whose elements have a given type and are read and written as
// doubles.
class Values {
 public:
  Values(FloatType type, int block, Layout layout, std::uint64_t seed, int pixels = kPixels)
      : type_(type), block_(block), layout_(layout), pixels_(pixels), memory_(64 + bytes()) {
    RandomStream stream(seed);
    for (int i = 0; i < kImages * 2 * pixels * block; ++i) set(i, 2.0 * stream.uniform() - 1.0);
  }
  View view() {
    auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    auto* const aligned = memory_.data() + (64 - address % 64) % 64;
    const std::int64_t image = std::int64_t{2} * pixels_ * block_;
    if (layout_ == Layout::channels_last) return {aligned, image, block_, channels()};
    return {aligned, image, std::int64_t{pixels_} * block_, block_};
  }
  double at(int image, int channel, int pixel) { return get(element(image, channel, pixel)); }
  void set(int image, int channel, int pixel, double value) { set(element(image, channel, pixel), value); }
  int channels() const { return 2 * block_; }

 private:
  int element(int image, int channel, int pixel) const {
    if (layout_ == Layout::channels_last) return (image * pixels_ + pixel) * channels() + channel;
    return ((image * 2 + channel / block_) * pixels_ + pixel) * block_ + channel % block_;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(kImages * 2 * pixels_ * block_) * 4; }
  double get(int i) {
    if (type_ == FloatType::f32) return static_cast<double>(reinterpret_cast<float*>(view().data)[i]);
    const std::uint32_t bits = reinterpret_cast<std::uint16_t*>(view().data)[i];
    return static_cast<double>(std::bit_cast<float>(bits << 16));
  }
  void set(int i, double value) {
    const auto single = static_cast<float>(value);
    if (type_ == FloatType::f32) {
      reinterpret_cast<float*>(view().data)[i] = single;
    } else {
      reinterpret_cast<std::uint16_t*>(view().data)[i] =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(single) >> 16);
    }
  }

  FloatType type_;
  int block_;
  Layout layout_;
  int pixels_;
  std::vector<std::byte> memory_;
};

using Compilation = std::tuple<Isa, FloatType, int, Layout>;

class KernelsTest : public testing::TestWithParam<Compilation> {
 protected:
  void SetUp() override {
    const Isa isa = std::get<0>(GetParam());
    if (best_isa(cpu_features()) < isa) GTEST_SKIP() << "this CPU lacks the instruction set";
  }
  Values values(std::uint64_t seed, int pixels = kPixels) const { return {type(), block(), layout(), seed, pixels}; }
  FloatType type() const { return std::get<1>(GetParam()); }
  int block() const { return std::get<2>(GetParam()); }
  Layout layout() const { return std::get<3>(GetParam()); }
  const Kernels& kernels_() const { return kernels(std::get<0>(GetParam()), type(), block()); }
  // The allowed error of a stored value near 1.
  double tolerance() const { return type() == FloatType::bf16 ? 1e-2 : 2e-6; }
  // Calls the body for each block, or in NHWC for a tile of both.
  template <typename Body>
  void for_pieces(const Body& body) const {
    if (layout() == Layout::channels_last) return body(Work{0, 0, kImages, 2});
    for_blocks(body);
  }
  template <typename Body>
  void for_blocks(const Body& body) const {
    for (int b = 0; b < 2; ++b) body(Work{b, 0, kImages});
  }
  // Calls body(channel, place of its sum) for each channel of a piece.
  template <typename Body>
  void for_channels(Work work, const Body& body) const {
    for (int i = 0; i < work.blocks * block(); ++i) {
      body(work.block * block() + i, i / block() * kSumStride + i % block());
    }
  }
  std::vector<float> per_channel(std::uint64_t seed) const {
    RandomStream stream(seed);
    std::vector<float> result(static_cast<std::size_t>(2 * block()));
    for (float& value : result) value = static_cast<float>(stream.uniform() + 0.25);
    return result;
  }
};

TEST_P(KernelsTest, StatisticsSumValuesAndSquares) {
  Values x = values(1), y = values(2);
  for_pieces([&](Work work) {
    double sum[2 * kSumStride] = {}, squares[2 * kSumStride] = {};
    kernels_().copy_statistics(x.view(), y.view(), kPixels, work, sum, squares);
    for_channels(work, [&](int channel, int place) {
      double expected = 0, expected_squares = 0;
      for (int image = 0; image < kImages; ++image) {
        for (int pixel = 0; pixel < kPixels; ++pixel) {
          const double value = x.at(image, channel, pixel);
          expected += value;
          expected_squares += value * value;
          ASSERT_EQ(y.at(image, channel, pixel), value);
        }
      }
      EXPECT_NEAR(sum[place], expected, 1e-4);
      EXPECT_NEAR(squares[place], expected_squares, 1e-4);
    });
  });
}

TEST_P(KernelsTest, NormalizeAddsTheResidualAndClamps) {
  Values x = values(1), residual = values(2), y = values(3);
  const auto scale = per_channel(4), shift = per_channel(5);
  const Clamp clamp{0.0f, 1.0f};
  const NormForward norm{x.view(), residual.view(), y.view(), scale.data(), shift.data(), clamp, kPixels};
  for_pieces([&](Work work) { kernels_().normalize(norm, work); });
  for (int channel = 0; channel < x.channels(); ++channel) {
    const auto c = static_cast<std::size_t>(channel);
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const double value = static_cast<double>(scale[c]) * x.at(1, channel, pixel) + static_cast<double>(shift[c]) +
                           residual.at(1, channel, pixel);
      EXPECT_NEAR(y.at(1, channel, pixel), std::min(std::max(value, 0.0), 1.0), tolerance());
    }
  }
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Returns the pixels of image 1, channel 3 that are NaN.
std::vector<int> places_of_nan(Values& values, int pixels = kPixels) {
  std::vector<int> places;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    if (std::isnan(values.at(1, 3, pixel))) places.push_back(pixel);
  }
  return places;
}

TEST_P(KernelsTest, NormalizeLetsNanThroughEveryClamp) {
  const auto scale = per_channel(4), shift = per_channel(5);
  for (const Clamp clamp : {kRelu, Clamp{0.0f, 6.0f}}) {
    Values x = values(1), y = values(3);
    x.set(1, 3, 20, kNaN);
    const NormForward norm{x.view(), {}, y.view(), scale.data(), shift.data(), clamp, kPixels};
    for_pieces([&](Work work) { kernels_().normalize(norm, work); });
    EXPECT_EQ(places_of_nan(y), std::vector<int>{20});
    EXPECT_FALSE(std::isnan(y.at(1, 4, 20)));
  }
}

// PyTorch zeroes a gradient where the value is at or below the threshold, which is false for NaN.
TEST_P(KernelsTest, BackwardPassesTheGradientOfANan) {
  Values x = values(1), output = values(2), gradient = values(3), masked = values(4);
  const double expected = gradient.at(1, 3, 20);
  x.set(1, 3, 20, kNaN);
  output.set(1, 3, 20, kNaN);
  const auto scale = per_channel(6), shift = per_channel(7), mean = per_channel(8);
  for (const View& mask : {output.view(), View{}}) {  // masked by the output, or by scale * x + shift
    masked.set(1, 3, 20, 0);
    const NormBackward norm{.x = x.view(),
                            .output = mask,
                            .gradient = gradient.view(),
                            .gradient2 = {},
                            .masked = masked.view(),
                            .scale = scale.data(),
                            .shift = shift.data(),
                            .mean = mean.data(),
                            .clamp = kRelu,
                            .pixels = kPixels};
    for_pieces([&](Work work) {
      double sum[2 * kSumStride] = {}, product[2 * kSumStride] = {};
      kernels_().gradient_sums(norm, work, sum, product);
    });
    EXPECT_EQ(masked.at(1, 3, 20), expected);
  }
}

// The gradient is the sum of two, masked by the output of a residual norm. Checks the sums, g in `masked`, and
// dx = a g + b x + c.
TEST_P(KernelsTest, BackwardMasksByTheOutputAndAppliesTheFactors) {
  Values x = values(1), output = values(2), gradient = values(3), gradient2 = values(4), dx = values(5);
  Values original = values(3);
  const auto mean = per_channel(6), a = per_channel(7), b = per_channel(8), c = per_channel(9);
  NormBackward norm{.x = x.view(),
                    .output = output.view(),
                    .gradient = gradient.view(),
                    .gradient2 = gradient2.view(),
                    .masked = gradient.view(),
                    .scale = a.data(),
                    .shift = b.data(),
                    .mean = mean.data(),
                    .clamp = kRelu,
                    .pixels = kPixels};
  const NormInputGradient input{a.data(), b.data(), c.data(), dx.view()};
  for_pieces([&](Work work) {
    double sum[2 * kSumStride] = {}, product[2 * kSumStride] = {};
    kernels_().gradient_sums(norm, work, sum, product);
    kernels_().gradient_apply(norm, input, work);
    for_channels(work, [&](int channel, int place) {
      const auto i = static_cast<std::size_t>(channel);
      double expected = 0, expected_product = 0;
      for (int image = 0; image < kImages; ++image) {
        for (int pixel = 0; pixel < kPixels; ++pixel) {
          const bool passes = output.at(image, channel, pixel) > 0;
          const double g = passes ? original.at(image, channel, pixel) + gradient2.at(image, channel, pixel) : 0.0;
          const double value = x.at(image, channel, pixel);
          expected += g;
          expected_product += g * (value - static_cast<double>(mean[i]));
          ASSERT_NEAR(gradient.at(image, channel, pixel), g, tolerance());
          ASSERT_NEAR(dx.at(image, channel, pixel),
                      static_cast<double>(a[i]) * g + static_cast<double>(b[i]) * value + static_cast<double>(c[i]),
                      3 * tolerance());
        }
      }
      EXPECT_NEAR(sum[place], expected, 1e-4);
      EXPECT_NEAR(product[place], expected_product, 1e-4);
    });
  });
}

TEST_P(KernelsTest, AccumulatesOverNormsAndFinishesOnce) {
  Values x = values(1), gradient = values(3), dx = values(5);
  Values total(FloatType::f32, block(), layout(), 6);
  const auto scale = per_channel(7), shift = per_channel(8), mean = per_channel(9);
  const NormBackward norm{.x = x.view(),
                          .output = {},
                          .gradient = gradient.view(),
                          .gradient2 = {},
                          .masked = {},
                          .scale = scale.data(),
                          .shift = shift.data(),
                          .mean = mean.data(),
                          .clamp = kRelu,
                          .pixels = kPixels};
  const NormInputGradient input{.a = nullptr, .b = shift.data(), .c = mean.data(), .dx = dx.view()};
  for_pieces([&](Work work) {
    double sum[2 * kSumStride] = {}, product[2 * kSumStride] = {};
    kernels_().gradient_accumulate(norm, scale.data(), total.view(), true, work, sum, product);
    kernels_().gradient_accumulate(norm, scale.data(), total.view(), false, work, sum, product);
    kernels_().gradient_finish(total.view(), x.view(), input, kPixels, work);
  });
  for (int channel = 0; channel < x.channels(); ++channel) {
    const auto i = static_cast<std::size_t>(channel);
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const double value = x.at(0, channel, pixel);
      const bool passes = static_cast<double>(scale[i]) * value + static_cast<double>(shift[i]) > 0;
      const double g = passes ? gradient.at(0, channel, pixel) : 0.0;
      const double expected =
          2 * static_cast<double>(scale[i]) * g + static_cast<double>(shift[i]) * value + static_cast<double>(mean[i]);
      EXPECT_NEAR(dx.at(0, channel, pixel), expected, 3 * tolerance());
    }
  }
}

constexpr PoolShape kPool{kHeight, kWidth, 3, 4, 3, 2, 1};
constexpr int kPooled = 3 * 4;

TEST_P(KernelsTest, MaxPoolTakesTheLargestAndReturnsItsGradient) {
  Values x = values(1), y = values(2, kPooled), dy = values(3, kPooled), dx = values(4);
  Values winner(FloatType::f32, block(), layout(), 5, kPooled);
  for_blocks([&](Work work) {
    kernels_().max_pool(x.view(), y.view(), winner.view(), kPool, work);
    kernels_().max_pool_backward(dy.view(), winner.view(), dx.view(), kPool, work);
  });
  for (int channel = 0; channel < x.channels(); ++channel) {
    double expected[kPixels] = {};
    for (int out = 0; out < kPooled; ++out) {
      int best = -1;
      for (int h = std::max(0, out / 4 * 2 - 1); h < std::min(kHeight, out / 4 * 2 + 2); ++h) {
        for (int w = std::max(0, out % 4 * 2 - 1); w < std::min(kWidth, out % 4 * 2 + 2); ++w) {
          if (best < 0 || x.at(0, channel, h * kWidth + w) > x.at(0, channel, best)) best = h * kWidth + w;
        }
      }
      ASSERT_EQ(y.at(0, channel, out), x.at(0, channel, best));
      expected[best] += dy.at(0, channel, out);
    }
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      ASSERT_NEAR(dx.at(0, channel, pixel), expected[pixel], 2 * tolerance());
    }
  }
}

// Windows 1 and 2 of output row 1 contain pixel 3 of input row 2; window 2 reads it after pixels that are numbers.
TEST_P(KernelsTest, MaxPoolTakesNanForTheLargest) {
  Values x = values(1), y = values(2, kPooled), dy = values(3, kPooled), dx = values(4);
  Values winner(FloatType::f32, block(), layout(), 5, kPooled);
  const int place = 2 * kWidth + 3;
  x.set(1, 3, place, kNaN);
  for_blocks([&](Work work) {
    kernels_().max_pool(x.view(), y.view(), winner.view(), kPool, work);
    kernels_().max_pool_backward(dy.view(), winner.view(), dx.view(), kPool, work);
  });
  EXPECT_EQ(places_of_nan(y, kPooled), (std::vector<int>{5, 6}));
  EXPECT_NEAR(dx.at(1, 3, place), dy.at(1, 3, 5) + dy.at(1, 3, 6), 2 * tolerance());
}

TEST_P(KernelsTest, AveragePoolDropsTheOddRowAndColumn) {
  constexpr PoolShape kHalf{kHeight, kWidth, 2, 3, 2, 2, 0};
  Values x = values(1), y = values(2, 6), dx = values(4);
  for_blocks([&](Work work) {
    kernels_().average_pool(x.view(), y.view(), kHalf, work);
    kernels_().average_pool_backward(y.view(), dx.view(), kHalf, work);
  });
  for (int channel = 0; channel < x.channels(); ++channel) {
    const double mean = (x.at(1, channel, 2) + x.at(1, channel, 3) + x.at(1, channel, 9) + x.at(1, channel, 10)) / 4;
    EXPECT_NEAR(y.at(1, channel, 1), mean, tolerance());
    EXPECT_NEAR(dx.at(1, channel, 10), y.at(1, channel, 1) / 4, tolerance());
    EXPECT_EQ(dx.at(1, channel, 6), 0);
    EXPECT_EQ(dx.at(1, channel, 30), 0);
  }
}

TEST_P(KernelsTest, GlobalAverageAndItsGradient) {
  Values x = values(1), dx = values(2);
  alignas(64) float mean[kImages * 2 * kMaxBlock];
  for_blocks([&](Work work) {
    kernels_().global_average(x.view(), kPixels, work, mean, x.channels());
    kernels_().global_average_backward(mean, x.channels(), dx.view(), kPixels, work);
  });
  double sum = 0;
  for (int pixel = 0; pixel < kPixels; ++pixel) sum += x.at(1, 3, pixel);
  const auto got = static_cast<double>(mean[x.channels() + 3]);
  EXPECT_NEAR(got, sum / kPixels, 1e-6);
  EXPECT_NEAR(dx.at(1, 3, kPixels - 1), got / kPixels, tolerance() / kPixels);
}

INSTANTIATE_TEST_SUITE_P(All, KernelsTest,
                         testing::Combine(testing::Values(Isa::baseline, Isa::avx2, Isa::avx512),
                                          testing::Values(FloatType::f32, FloatType::bf16), testing::Values(8, 16),
                                          testing::Values(Layout::blocked, Layout::channels_last)));

}  // namespace
}  // namespace chexbench::engine::onednn
