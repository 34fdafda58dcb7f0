// Compares every implementation of unfiltering with a direct transcription of the PNG specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "image/isa_test.hpp"
#include "image/png/png_unfilter.hpp"

namespace chexbench::image {
namespace {

// The filtered rows of a PNG image, and memory for its pixels with the slack that Unfilter needs.
struct Image {
  Image(int image_width, int image_height) : width(image_width), height(image_height) {
    const auto w = static_cast<std::size_t>(width);
    const auto h = static_cast<std::size_t>(height);
    filtered.resize(h * (w + 1) + 2 * kUnfilterSlack, 0xcd);
    stride = w + kUnfilterRowGap;
    pixels.resize(h * stride + 2 * kUnfilterSlack, 0xee);
  }

  std::uint8_t* filtered_row(int y) { return filtered.data() + kUnfilterSlack + y * (width + 1); }

  int run(Isa isa) {
    Unfilter unfilter(isa);
    return unfilter.run({filtered.data() + kUnfilterSlack, width, height}, {pixels.data() + kUnfilterSlack, stride});
  }

  std::vector<std::uint8_t> row(int y) const {
    const auto begin =
        pixels.begin() + static_cast<std::ptrdiff_t>(kUnfilterSlack + static_cast<std::size_t>(y) * stride);
    return {begin, begin + width};
  }

  int width;
  int height;
  std::size_t stride = 0;
  std::vector<std::uint8_t> filtered;
  std::vector<std::uint8_t> pixels;
};

// Follows the PNG specification, sections 9.2 and 9.4, one pixel at a time.
std::vector<std::vector<std::uint8_t>> reference(Image& image) {
  std::vector<std::vector<std::uint8_t>> rows;
  const std::vector<std::uint8_t> zeros(static_cast<std::size_t>(image.width));
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* const in = image.filtered_row(y);
    const std::vector<std::uint8_t>& above = y > 0 ? rows.back() : zeros;
    std::vector<std::uint8_t> row(static_cast<std::size_t>(image.width));
    for (std::size_t x = 0; x < row.size(); ++x) {
      const int a = x > 0 ? row[x - 1] : 0;
      const int b = above[x];
      const int c = x > 0 ? above[x - 1] : 0;
      const int p = a + b - c;
      const int nearest = std::min({std::abs(p - a), std::abs(p - b), std::abs(p - c)});
      const int paeth = std::abs(p - a) == nearest ? a : std::abs(p - b) == nearest ? b : c;
      const int predictions[] = {0, a, b, (a + b) / 2, paeth};
      row[x] = static_cast<std::uint8_t>(in[1 + x] + predictions[in[0]]);
    }
    rows.push_back(row);
  }
  return rows;
}

class UnfilterTest : public IsaTest {
 protected:
  // Fills an image with `filter_of(y)` and random bytes, and compares the implementation with the specification.
  template <typename FilterOf>
  void expect_specified(int width, int height, FilterOf filter_of) {
    Image image(width, height);
    for (int y = 0; y < height; ++y) {
      std::uint8_t* const row = image.filtered_row(y);
      row[0] = static_cast<std::uint8_t>(filter_of(y));
      for (int x = 1; x <= width; ++x) row[x] = static_cast<std::uint8_t>(random_());
    }
    const auto expected = reference(image);
    ASSERT_EQ(image.run(GetParam()), -1) << width << "x" << height;
    for (int y = 0; y < height; ++y) {
      ASSERT_EQ(image.row(y), expected[static_cast<std::size_t>(y)]) << width << "x" << height << ", row " << y;
    }
  }

  std::mt19937 random_{7};
};

TEST_P(UnfilterTest, UndoesEachFilterAlone) {
  for (int filter = 0; filter <= 4; ++filter) expect_specified(100, 70, [&](int) { return filter; });
}

TEST_P(UnfilterTest, UndoesMixedFilters) {
  expect_specified(257, 200, [&](int) { return static_cast<int>(random_() % 5); });
}

TEST_P(UnfilterTest, UndoesRowsNarrowerThanAnyVector) {
  for (int width = 1; width <= 70; ++width) {
    expect_specified(width, 5, [&](int) { return static_cast<int>(random_() % 5); });
  }
}

TEST_P(UnfilterTest, UndoesBlocksThatEndInsideTheImage) {
  for (int height = 1; height <= 130; ++height) expect_specified(33, height, [](int y) { return 3 + y % 2; });
}

// Small differences exercise Paeth's ties, which random bytes seldom do.
TEST_P(UnfilterTest, BreaksTiesOfPaethAsSpecified) {
  Image image(64, 64);
  for (int y = 0; y < image.height; ++y) {
    std::uint8_t* const row = image.filtered_row(y);
    row[0] = 4;
    for (int x = 1; x <= image.width; ++x) row[x] = static_cast<std::uint8_t>(random_() % 3 - 1);
  }
  const auto expected = reference(image);
  ASSERT_EQ(image.run(GetParam()), -1);
  for (int y = 0; y < image.height; ++y) EXPECT_EQ(image.row(y), expected[static_cast<std::size_t>(y)]) << "row " << y;
}

TEST_P(UnfilterTest, NamesTheFirstRowOfUnknownFilter) {
  for (const int bad_row : {0, 1, 17, 40, 69}) {
    Image image(40, 70);
    for (int y = 0; y < image.height; ++y) image.filtered_row(y)[0] = static_cast<std::uint8_t>(y % 5);
    image.filtered_row(bad_row)[0] = 5;
    EXPECT_EQ(image.run(GetParam()), bad_row);
  }
}

TEST_P(UnfilterTest, ReusesItsScratchForAnotherSize) {
  Unfilter unfilter(GetParam());
  for (const int width : {300, 20, 500}) {
    Image image(width, 3);
    for (int y = 0; y < 3; ++y) {
      std::fill_n(image.filtered_row(y), width + 1,
                  std::uint8_t{3});  // with filter Average, pixels depend on the row above
    }
    const auto expected = reference(image);
    unfilter.run({image.filtered_row(0), width, 3}, {image.pixels.data() + kUnfilterSlack, image.stride});
    EXPECT_EQ(image.row(2), expected[2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, UnfilterTest, testing::ValuesIn(kIsas), isa_name);

}  // namespace
}  // namespace chexbench::image
