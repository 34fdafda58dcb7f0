// A build without OpenCV decodes gray PNGs, and for other files reports the missing library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "image/decoder.hpp"
#include "image/png_builder.hpp"

namespace chexbench::image {
namespace {

TEST(DecoderWithoutOpencv, DecodesGray) {
  const test::Bytes file = test::gray_png(30, 20);
  const DecodedImage image = make_decoder(spec::DecoderKind::fast)->decode(file, "x.png");
  EXPECT_EQ(image.pixels[image.stride + 1], test::ramp(30, 20)[31]);
}

TEST(DecoderWithoutOpencv, SaysWhatOtherImagesNeed) {
  const test::Bytes file = test::build_png({.width = 1, .height = 1, .interlace = 1, .rows = {0, 1}});
  try {
    make_decoder(spec::DecoderKind::fast)->decode(file, "x.png");
    FAIL() << "decoded an interlaced image";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("x.png"), testing::HasSubstr("libopencv-imgcodecs-dev")));
  }
}

}  // namespace
}  // namespace chexbench::image
