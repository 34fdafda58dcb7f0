// Compares the fast row kernels and whole preprocessors bit for bit with their plain versions, and their values with a
// direct computation in double.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "image/isa_test.hpp"
#include "image/preprocess.hpp"
#include "image/preprocess_rows.hpp"

namespace chexbench::image {
namespace {

struct Sizes {
  int width, height, output_width, output_height;
};

// Widths around the limits of gathers (4) and windows (128), both directions of scaling, and widths that leave a tail.
constexpr Sizes kSizes[] = {{1, 1, 5, 3},        {2, 3, 7, 7},        {3, 2, 1, 1},      {4, 4, 4, 4},
                            {5, 9, 17, 33},      {127, 40, 16, 15},   {128, 40, 16, 15}, {129, 40, 31, 15},
                            {1024, 64, 224, 14}, {1000, 50, 223, 11}, {3000, 20, 33, 7}, {64, 64, 300, 301}};

class Picture {
 public:
  // Has exactly as many bytes as pixels, so that AddressSanitizer finds a kernel that reads beyond the last.
  Picture(int width, int height) : pixels_(static_cast<std::size_t>(width * height)), width_(width), height_(height) {
    std::mt19937 random(static_cast<unsigned>(width * 7919 + height));
    for (std::uint8_t& pixel : pixels_) pixel = static_cast<std::uint8_t>(random());
  }
  DecodedImage view() const { return {pixels_.data(), width_, height_, static_cast<std::size_t>(width_)}; }
  double at(int x, int y) const { return pixels_[static_cast<std::size_t>(y * width_ + x)]; }

 private:
  std::vector<std::uint8_t> pixels_;
  int width_;
  int height_;
};

std::vector<std::byte> run(spec::ResizeMethod method, const BatchShape& shape, Isa isa, const DecodedImage& image,
                           bool flip) {
  std::vector<std::byte> out(shape.bytes(), std::byte{0xaa});
  make_preprocessor(method, shape, isa)->run(image, flip, out.data());
  return out;
}

// A picture of colors, with a gap after each row, and the gray pictures of its channels.
class ColorPicture {
 public:
  ColorPicture(int width, int height) : width_(width), height_(height) {
    std::mt19937 random(static_cast<unsigned>(width * 31 + height));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < 3 * width; ++x) {
        rgb_.push_back(static_cast<std::uint8_t>(random()));
        planes_[static_cast<std::size_t>(x % 3)].push_back(rgb_.back());
      }
      if (y + 1 < height) rgb_.resize(rgb_.size() + kGap, std::uint8_t{0xee});
    }
  }
  DecodedImage view() const { return {rgb_.data(), width_, height_, static_cast<std::size_t>(3 * width_) + kGap, 3}; }
  DecodedImage plane(std::size_t channel) const {
    return {planes_[channel].data(), width_, height_, static_cast<std::size_t>(width_)};
  }

 private:
  static constexpr std::size_t kGap = 5;
  int width_;
  int height_;
  std::vector<std::uint8_t> rgb_;
  std::array<std::vector<std::uint8_t>, 3> planes_;
};

double bilinear_at(const Picture& picture, const Sizes& s, int x, int y) {
  // Rounds coordinates to float, like TensorFlow; everything else is in double.
  const auto source = [](int i, int from, int to) {
    const float scale = static_cast<float>(from) / static_cast<float>(to);
    const double center = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    return std::clamp(center, 0.0, static_cast<double>(from - 1));
  };
  const double fx = source(x, s.width, s.output_width);
  const double fy = source(y, s.height, s.output_height);
  double sum = 0;
  for (int yy = 0; yy < s.height; ++yy) {
    const double wy = std::max(0.0, 1 - std::abs(fy - yy));
    for (int xx = 0; wy > 0 && xx < s.width; ++xx)
      sum += wy * std::max(0.0, 1 - std::abs(fx - xx)) * picture.at(xx, yy);
  }
  return sum;
}

double area_at(const Picture& picture, const Sizes& s, int x, int y) {
  const auto overlap = [](int i, int pixel, int from, int to) {
    const float scale = static_cast<float>(from) / static_cast<float>(to);
    const double begin = static_cast<float>(i) * scale;
    const double end = static_cast<float>(i + 1) * scale;
    return std::max(0.0, std::min<double>(pixel + 1, end) - std::max<double>(pixel, begin)) / scale;
  };
  double sum = 0;
  for (int yy = 0; yy < s.height; ++yy) {
    const double wy = overlap(y, yy, s.height, s.output_height);
    for (int xx = 0; wy > 0 && xx < s.width; ++xx) {
      sum += wy * overlap(x, xx, s.width, s.output_width) * picture.at(xx, yy);
    }
  }
  return sum;
}

class PreprocessTest : public IsaTest {};

TEST_P(PreprocessTest, EqualsItsPlainTwinBitForBit) {
  for (const Sizes& s : kSizes) {
    const Picture picture(s.width, s.height);
    for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
      for (const Deliver deliver : {Deliver::f32, Deliver::u8}) {
        for (const bool flip : {false, true}) {
          const BatchShape shape{1, s.output_height, s.output_width, deliver};
          EXPECT_EQ(run(method, shape, GetParam(), picture.view(), flip),
                    run(method, shape, Isa::plain, picture.view(), flip))
              << s.width << "x" << s.height << " to " << s.output_width << "x" << s.output_height;
        }
      }
    }
  }
}

TEST_P(PreprocessTest, ComputesBothResizesAsDefined) {
  constexpr float kMean[3] = {0.485f, 0.456f, 0.406f};
  constexpr float kStd[3] = {0.229f, 0.224f, 0.225f};
  for (const Sizes& s : kSizes) {
    if (s.width > 1000) continue;  // the direct computation is slow
    const Picture picture(s.width, s.height);
    const BatchShape shape{1, s.output_height, s.output_width, Deliver::f32};
    for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
      const std::vector<std::byte> bytes = run(method, shape, GetParam(), picture.view(), false);
      std::vector<float> tensor(bytes.size() / sizeof(float));
      std::memcpy(tensor.data(), bytes.data(), bytes.size());
      for (std::size_t i = 0; i < tensor.size(); i += 3) {
        const int x = static_cast<int>(i / 3) % s.output_width;
        const int y = static_cast<int>(i / 3) / s.output_width;
        const double gray =
            method == spec::ResizeMethod::area ? area_at(picture, s, x, y) : bilinear_at(picture, s, x, y);
        for (std::size_t channel = 0; channel < 3; ++channel)
          ASSERT_NEAR(tensor[i + channel] * kStd[channel] + kMean[channel], gray / 255, 2e-6)
              << s.width << "x" << s.height;
      }
    }
  }
}

// The gray pictures are resized by the kernels that the tests above check against their definition.
TEST_P(PreprocessTest, ResizesEachColorAsAGrayPictureOfIt) {
  for (const Sizes& s : kSizes) {
    const ColorPicture picture(s.width, s.height);
    for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
      for (const bool flip : {false, true}) {
        const BatchShape bytes{1, s.output_height, s.output_width, Deliver::u8};
        const BatchShape floats{1, s.output_height, s.output_width, Deliver::f32};
        const BatchShape rgb{1, s.output_height, s.output_width, Deliver::u8_rgb};
        const auto color_bytes = run(method, rgb, GetParam(), picture.view(), flip);
        const auto color_floats = run(method, floats, GetParam(), picture.view(), flip);
        for (std::size_t channel = 0; channel < 3; ++channel) {
          const auto gray_bytes = run(method, bytes, GetParam(), picture.plane(channel), flip);
          const auto gray_floats = run(method, floats, GetParam(), picture.plane(channel), flip);
          for (std::size_t i = 0; i < gray_bytes.size(); ++i) {
            ASSERT_EQ(color_bytes[3 * i + channel], gray_bytes[i])
                << s.width << "x" << s.height << " to " << s.output_width << "x" << s.output_height;
            const std::size_t at = (3 * i + channel) * sizeof(float);
            ASSERT_EQ(std::memcmp(&color_floats[at], &gray_floats[at], sizeof(float)), 0)
                << s.width << "x" << s.height << " to " << s.output_width << "x" << s.output_height;
          }
        }
      }
    }
  }
}

TEST_P(PreprocessTest, MakesThreeEqualChannelsOfAGrayPictureAmongColors) {
  const Picture picture(300, 20);
  for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
    const auto gray = run(method, {1, 9, 37, Deliver::u8}, GetParam(), picture.view(), true);
    const auto rgb = run(method, {1, 9, 37, Deliver::u8_rgb}, GetParam(), picture.view(), true);
    ASSERT_EQ(rgb.size(), 3 * gray.size());
    for (std::size_t i = 0; i < rgb.size(); ++i) ASSERT_EQ(rgb[i], gray[i / 3]) << i;
  }
}

TEST_P(PreprocessTest, FollowsGrayAndColorInTurn) {
  const BatchShape shape{1, 24, 24, Deliver::u8_rgb};
  const Picture gray(60, 50);
  const ColorPicture color(60, 50);
  for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
    const auto preprocessor = make_preprocessor(method, shape, GetParam());
    std::vector<std::byte> out(shape.bytes());
    for (const DecodedImage& image : {gray.view(), color.view(), gray.view()}) {
      preprocessor->run(image, false, out.data());
      EXPECT_EQ(out, run(method, shape, Isa::plain, image, false)) << image.channels;
    }
  }
}

TEST_P(PreprocessTest, KeepsAnImageOfTheRightSize) {
  const Picture picture(40, 30);
  for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
    const auto out = run(method, {1, 30, 40, Deliver::u8}, GetParam(), picture.view(), false);
    EXPECT_EQ(std::memcmp(out.data(), picture.view().pixels, out.size()), 0);
  }
}

TEST_P(PreprocessTest, FlipMirrorsColumns) {
  const Picture picture(300, 20);
  const BatchShape shape{1, 9, 37, Deliver::u8};
  for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
    const auto straight = run(method, shape, GetParam(), picture.view(), false);
    auto mirrored = run(method, shape, GetParam(), picture.view(), true);
    EXPECT_NE(straight, mirrored);
    for (auto row = mirrored.begin(); row != mirrored.end(); row += 37) std::reverse(row, row + 37);
    EXPECT_EQ(straight, mirrored);
  }
}

TEST_P(PreprocessTest, FollowsChangingImageSizes) {
  const BatchShape shape{1, 24, 24, Deliver::f32};
  for (const auto method : {spec::ResizeMethod::bilinear, spec::ResizeMethod::area}) {
    const auto preprocessor = make_preprocessor(method, shape, GetParam());
    for (const int width : {100, 30, 200, 100}) {
      const Picture picture(width, 50);
      std::vector<std::byte> out(shape.bytes());
      preprocessor->run(picture.view(), false, out.data());
      EXPECT_EQ(out, run(method, shape, Isa::plain, picture.view(), false)) << width;
    }
  }
}

TEST_P(PreprocessTest, RoundsGrayToTheNearestByte) {
  const std::vector<float> gray = {0, 0.49f, 0.5f, 1.5f, 100.25f, 254.49f, 254.5f, 255,   255.0001f,
                                   7, 8,     9,    10,   11,      12,      13,     14.75f};
  std::vector<std::uint8_t> out(gray.size());
  row_kernels(GetParam()).write_u8(gray.data(), out.data(), gray.size());
  EXPECT_EQ(out, (std::vector<std::uint8_t>{0, 0, 1, 2, 100, 254, 255, 255, 255, 7, 8, 9, 10, 11, 12, 13, 15}));
}

INSTANTIATE_TEST_SUITE_P(Isas, PreprocessTest, testing::ValuesIn(kIsas), isa_name);

TEST(AreaTaps, WeighEverySourcePixelEqually) {
  for (const auto& [source, output] : {std::pair{1024, 224}, {224, 224}, {10, 37}, {16384, 3}}) {
    std::vector<double> total(static_cast<std::size_t>(source));
    for (const AreaTap& tap : area_taps(source, output)) {
      for (std::size_t t = 0; t < tap.weights.size(); ++t)
        total[static_cast<std::size_t>(tap.start) + t] += tap.weights[t];
    }
    for (const double weight : total) EXPECT_NEAR(weight, static_cast<double>(output) / source, 1e-5);
  }
}

}  // namespace
}  // namespace chexbench::image
