#include "pipeline/image_loader.hpp"

#include <gtest/gtest.h>

#include <set>

#include "dataset/dataset.hpp"
#include "pipeline/harness.hpp"

namespace chexbench::pipeline::test {
namespace {

TEST(Flip, IsDecidedByImageAndEpochForAboutHalf) {
  int flipped = 0;
  int changed = 0;
  for (std::uint32_t image = 0; image < 1000; ++image) {
    const bool now = is_flipped(1, {.image = image, .epoch = 0});
    EXPECT_EQ(now, is_flipped(1, {.image = image, .epoch = 0}));
    flipped += now ? 1 : 0;
    changed += now != is_flipped(1, {.image = image, .epoch = 1}) ? 1 : 0;
  }
  EXPECT_NEAR(flipped, 500, 80);
  EXPECT_NEAR(changed, 500, 80);
}

class WindowTest : public testing::Test {
 protected:
  const std::vector<std::uint8_t> pixels_ = std::vector<std::uint8_t>(20 * 12);
  const image::DecodedImage image_{.pixels = pixels_.data(), .width = 16, .height = 12, .stride = 20};
  std::ptrdiff_t column(const image::DecodedImage& window) const { return (window.pixels - image_.pixels) % 20; }
  std::ptrdiff_t row(const image::DecodedImage& window) const { return (window.pixels - image_.pixels) / 20; }
};

TEST_F(WindowTest, HasItsShareOfEachSide) {
  const image::DecodedImage window = middle_window(image_, 0.5);
  EXPECT_EQ(window.width, 8);
  EXPECT_EQ(window.height, 6);
  EXPECT_EQ(window.stride, 20u);
  EXPECT_EQ(column(window), 4);
  EXPECT_EQ(row(window), 3);
}

TEST_F(WindowTest, BeginsAtAWholePixelOfColors) {
  const image::DecodedImage rgb{.pixels = pixels_.data(), .width = 6, .height = 12, .stride = 20, .channels = 3};
  const image::DecodedImage window = middle_window(rgb, 0.5);
  EXPECT_EQ(window.width, 3);
  EXPECT_EQ(window.channels, 3);
  EXPECT_EQ(column(window), 3) << "one pixel of three bytes";
  EXPECT_EQ(row(window), 3);
}

TEST_F(WindowTest, OfAllIsTheImage) {
  for (const image::DecodedImage& window : {middle_window(image_, 1), random_window(image_, 1, 1, {.image = 5})}) {
    EXPECT_EQ(window.pixels, image_.pixels);
    EXPECT_EQ(window.width, 16);
    EXPECT_EQ(window.height, 12);
  }
}

TEST_F(WindowTest, LiesAnywhereButInsideOfTheImage) {
  std::set<std::ptrdiff_t> columns, rows;
  for (std::uint32_t image = 0; image < 500; ++image) {
    const ExampleId id{.image = image, .epoch = 2};
    const image::DecodedImage window = random_window(image_, 0.75, 1, id);
    EXPECT_EQ(window.pixels, random_window(image_, 0.75, 1, id).pixels);
    columns.insert(column(window));
    rows.insert(row(window));
  }
  EXPECT_EQ(columns, (std::set<std::ptrdiff_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(rows, (std::set<std::ptrdiff_t>{0, 1, 2, 3}));
}

TEST_F(WindowTest, OfARandomSizeHasTheAreasAndShapesOfTorchvision) {
  const std::vector<std::uint8_t> pixels(400 * 300);
  const image::DecodedImage large{.pixels = pixels.data(), .width = 400, .height = 300, .stride = 400};
  double least = 1, most = 0, narrowest = 9, widest = 0, sum = 0;
  for (std::uint32_t image = 0; image < 2000; ++image) {
    const ExampleId id{.image = image, .epoch = 1};
    const image::DecodedImage window = random_resized_window(large, 7, id);
    const auto begin = window.pixels - large.pixels;
    EXPECT_LE(begin % 400 + window.width, 400);
    EXPECT_LE(begin / 400 + window.height, 300);
    EXPECT_EQ(window.pixels, random_resized_window(large, 7, id).pixels);
    const double area = window.width * window.height / 120000.0, shape = 1.0 * window.width / window.height;
    least = std::min(least, area), most = std::max(most, area), sum += area;
    narrowest = std::min(narrowest, shape), widest = std::max(widest, shape);
  }
  EXPECT_NEAR(least, 0.08, 0.02);
  EXPECT_GT(most, 0.9);
  EXPECT_NEAR(narrowest, 3.0 / 4, 0.02);
  EXPECT_NEAR(widest, 4.0 / 3, 0.02);
  EXPECT_NEAR(sum / 2000, 0.435, 0.02) << "the mean of 20,000 draws of torchvision 0.29; not all shapes fit";
}

TEST_F(WindowTest, OfAStripThatFitsNoShapeIsItsMiddle) {
  const image::DecodedImage strip{.pixels = pixels_.data(), .width = 16, .height = 2, .stride = 20};
  std::set<int> widths;
  for (std::uint32_t image = 0; image < 50; ++image) widths.insert(random_resized_window(strip, 1, {image, 0}).width);
  EXPECT_TRUE(widths.contains(3));
  EXPECT_LE(*widths.rbegin(), 3);
}

// Reads a part of the shipped X-rays and checks which images are delivered.
class PartialTest : public testing::TestWithParam<std::string> {};

TEST_P(PartialTest, GivesTheSameImagesFromEveryFormat) {
  const Setting setting{.batch = 1, .deliver = Deliver::u8};  // cached pixels are u8 only
  const auto delivered = [&](spec::DataFormat format, bool validation) {
    const dataset::PatientSplit split = dataset::split_by_patient(xrays(format), 0.3);
    std::multiset<std::pair<std::uint32_t, std::uint64_t>> images;
    for (const Delivered& one :
         run(validation ? split.validation : split.training, finite_preset(GetParam(), 1), setting)) {
      images.emplace(one.id.image, one.hash);
    }
    EXPECT_EQ(images.size(), (validation ? split.validation : split.training).images.size());
    return images;
  };
  for (const bool validation : {false, true}) {
    const auto expected = delivered(spec::DataFormat::images, validation);
    for (const auto format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset, spec::DataFormat::cached}) {
      EXPECT_EQ(delivered(format, validation), expected) << spec::to_string(format);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Presets, PartialTest, testing::Values("naive", "optimized", "keras", "pytorch"),
                         [](const auto& suite) { return suite.param; });

// Images are cropped: at a random position in each epoch of training, and at the center in validation.
TEST(Crop, IsRandomInTrainingAlone) {
  const auto first_images = [](double crop, bool augments, std::uint64_t seed) {
    const spec::PipelineSpec pipeline = finite_preset("keras", 1);
    PipelineContext context = context_of(xrays(spec::DataFormat::images), pipeline, {.batch = 4, .seed = seed});
    context.preprocess.crop = crop;
    context.augments = augments;
    std::map<std::uint32_t, std::uint64_t> images;
    for (const Delivered& one : drain(*make_pipeline(context))) images[one.id.image] = one.hash;
    return images;
  };
  const auto whole = first_images(1, true, 1);
  EXPECT_EQ(whole, first_images(1, false, 2));
  EXPECT_NE(first_images(0.8, true, 1), whole);
  EXPECT_NE(first_images(0.8, true, 1), first_images(0.8, true, 2));
  EXPECT_EQ(first_images(0.8, false, 1), first_images(0.8, false, 2));
  EXPECT_NE(first_images(0.8, false, 1), whole);
}

}  // namespace
}  // namespace chexbench::pipeline::test
