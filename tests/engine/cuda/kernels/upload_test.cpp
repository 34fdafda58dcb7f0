// Uploads write every pixel and the padding, and nothing after the last pixel.
#include "engine/cuda/kernels/upload.hpp"

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr Normalization kNorm{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};

template <typename T, int C>
struct Target {
  using Type = T;
  static constexpr int kChannels = C;
};

template <typename M>
class UploadTo : public testing::Test {};
using Targets = testing::Types<Target<float, 4>, Target<float, 8>, Target<Half, 4>, Target<Half, 8>,
                               Target<BFloat16, 4>, Target<BFloat16, 8>>;
TYPED_TEST_SUITE(UploadTo, Targets);

constexpr std::int64_t kSizes[] = {1, 2, 5, 49, 600};

TYPED_TEST(UploadTo, GrayIsNormalizedAndSpread) {
  using T = typename TypeParam::Type;
  constexpr int kChannels = TypeParam::kChannels;
  for (const std::int64_t pixels : kSizes) {
    std::vector<std::uint8_t> gray;
    for (int i = 0; i < pixels; ++i) gray.push_back(static_cast<std::uint8_t>(i * 7));
    Tensor<T> to(static_cast<int>(pixels) + 2, kChannels);
    using Op = Upload<GraySource, T, kChannels>;
    run_calls(Op{{gray.data(), kNorm}, to.view().data, pixels}, Op::calls(pixels));
    for (int i = 0; i < pixels; ++i) {
      for (int c = 0; c < 3; ++c) {
        const auto gray_value = static_cast<float>(gray[static_cast<std::size_t>(i)]);
        const float exact = (gray_value / 255.0f - kNorm.mean[c]) / kNorm.deviation[c];
        ASSERT_EQ(to(i, c), static_cast<double>(Element<T>::widen(Element<T>::narrow(exact))));
      }
      for (int c = 3; c < kChannels; ++c) ASSERT_EQ(to(i, c), 0);
    }
    for (int c = 0; c < kChannels; ++c) ASSERT_EQ(to(static_cast<int>(pixels), c), static_cast<double>(kGuard));
  }
}

TYPED_TEST(UploadTo, RgbIsNormalizedAndPadded) {
  using T = typename TypeParam::Type;
  constexpr int kChannels = TypeParam::kChannels;
  for (const std::int64_t pixels : kSizes) {
    std::vector<std::uint8_t> rgb;
    for (int i = 0; i < 3 * pixels; ++i) rgb.push_back(static_cast<std::uint8_t>(i * 7));
    Tensor<T> to(static_cast<int>(pixels) + 2, kChannels);
    using Op = Upload<RgbSource, T, kChannels>;
    run_calls(Op{{rgb.data(), kNorm}, to.view().data, pixels}, Op::calls(pixels));
    for (int i = 0; i < pixels; ++i) {
      for (int c = 0; c < 3; ++c) {
        const auto value = static_cast<float>(rgb[static_cast<std::size_t>(3 * i + c)]);
        const float exact = (value / 255.0f - kNorm.mean[c]) / kNorm.deviation[c];
        ASSERT_EQ(to(i, c), static_cast<double>(Element<T>::widen(Element<T>::narrow(exact))));
      }
      for (int c = 3; c < kChannels; ++c) ASSERT_EQ(to(i, c), 0);
    }
    for (int c = 0; c < kChannels; ++c) ASSERT_EQ(to(static_cast<int>(pixels), c), static_cast<double>(kGuard));
  }
}

TYPED_TEST(UploadTo, ColorIsRoundedAndPadded) {
  using T = typename TypeParam::Type;
  constexpr int kChannels = TypeParam::kChannels;
  for (const std::int64_t pixels : kSizes) {
    const auto values = random_values(static_cast<int>(3 * pixels), 5, -2, 2.5f);
    Tensor<T> to(static_cast<int>(pixels) + 2, kChannels);
    using Op = Upload<ColorSource, T, kChannels>;
    run_calls(Op{{values.data()}, to.view().data, pixels}, Op::calls(pixels));
    for (int i = 0; i < pixels; ++i) {
      for (int c = 0; c < 3; ++c) {
        const float value = values[static_cast<std::size_t>(3 * i + c)];
        ASSERT_EQ(to(i, c), static_cast<double>(Element<T>::widen(Element<T>::narrow(value))));
      }
      for (int c = 3; c < kChannels; ++c) ASSERT_EQ(to(i, c), 0);
    }
    for (int c = 0; c < kChannels; ++c) ASSERT_EQ(to(static_cast<int>(pixels), c), static_cast<double>(kGuard));
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
