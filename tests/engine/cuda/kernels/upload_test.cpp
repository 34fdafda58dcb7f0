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

// Uploads from a source, and expects exact(pixel, channel) in every pixel, zeros in the padding, and no more.
template <typename Target, typename Source, typename Exact>
void expect_upload(const Source& source, int pixels, const Exact& exact) {
  using T = typename Target::Type;
  constexpr int kChannels = Target::kChannels;
  Tensor<T> to(pixels + 2, kChannels);
  using Op = Upload<Source, T, kChannels>;
  run_calls(Op{source, to.view().data, pixels}, Op::calls(pixels));
  for (int i = 0; i < pixels; ++i) {
    for (int c = 0; c < 3; ++c)
      ASSERT_EQ(to(i, c), static_cast<double>(Element<T>::widen(Element<T>::narrow(exact(i, c)))));
    for (int c = 3; c < kChannels; ++c) ASSERT_EQ(to(i, c), 0);
  }
  for (int c = 0; c < kChannels; ++c) ASSERT_EQ(to(pixels, c), static_cast<double>(kGuard));
}

constexpr int kSizes[] = {1, 2, 5, 49, 600};

TYPED_TEST(UploadTo, GrayIsNormalizedAndSpreadAndRgbIsNormalized) {
  const auto exact = [](std::uint8_t value, int c) {
    return (static_cast<float>(value) / 255.0f - kNorm.mean[c]) / kNorm.deviation[c];
  };
  for (const int pixels : kSizes) {
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 3 * pixels; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 7));
    expect_upload<TypeParam>(GraySource{bytes.data(), kNorm}, pixels,
                             [&](int i, int c) { return exact(bytes[static_cast<std::size_t>(i)], c); });
    expect_upload<TypeParam>(RgbSource{bytes.data(), kNorm}, pixels,
                             [&](int i, int c) { return exact(bytes[static_cast<std::size_t>(3 * i + c)], c); });
  }
}

TYPED_TEST(UploadTo, ColorIsRounded) {
  for (const int pixels : kSizes) {
    const auto values = random_values(3 * pixels, 5, -2, 2.5f);
    expect_upload<TypeParam>(ColorSource{values.data()}, pixels,
                             [&](int i, int c) { return values[static_cast<std::size_t>(3 * i + c)]; });
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
