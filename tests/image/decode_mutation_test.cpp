// Decodes thousands of damaged PNGs, the same ones in every run. Each must decode or throw a DataError, and nothing
// else. Under AddressSanitizer this also shows that no damage makes the decoder read or write out of bounds.
#include <gtest/gtest.h>

#include <random>

#include "core/errors.hpp"
#include "image/decoder.hpp"
#include "image/png/png_decoder.hpp"
#include "image/png/png_file.hpp"
#include "image/png_builder.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

using test::Bytes;

class Mutations {
 public:
  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  // Makes one to four changes: flips a bit, replaces a byte, removes or doubles some bytes, or cuts off the end.
  template <typename Container>
  void damage(Container& bytes) {
    for (std::size_t count = 1 + below(4); count > 0 && bytes.size() > 16; --count) {
      const auto at = bytes.begin() + static_cast<std::ptrdiff_t>(below(bytes.size() - 8));
      const auto end = at + static_cast<std::ptrdiff_t>(1 + below(8));
      using Byte = typename Container::value_type;
      switch (below(8)) {
        case 0:
          bytes.erase(at, end);
          break;
        case 1: {
          const Container copy(at, end);
          bytes.insert(at, copy.begin(), copy.end());
          break;
        }
        case 2:
          if (below(8) == 0) bytes.erase(at, bytes.end());
          break;
        case 3:
          *at = static_cast<Byte>(below(256));
          break;
        default:
          *at ^= static_cast<Byte>(1u << below(8));
      }
    }
  }

 private:
  std::mt19937 random_{20171208};
};

// Makes a small file with every filter, which the fast path takes.
test::PngRecipe small_image(Mutations& mutations) {
  test::PngRecipe recipe{.width = 90, .height = 70, .idat_bytes = 500};
  for (std::size_t y = 0; y < recipe.height; ++y) {
    recipe.rows.push_back(static_cast<std::uint8_t>(mutations.below(5)));
    for (std::size_t x = 0; x < recipe.width; ++x) recipe.rows.push_back(static_cast<std::uint8_t>(mutations.below(9)));
  }
  return recipe;
}

bool refuses(PngDecoder& decoder, const Bytes& file) {
  PngFile png;
  try {
    parse_png(file, "x.png", png);
  } catch (const DataError&) {
    return true;
  }
  return decoder.decode(png).has_value();
}

TEST(DecodeMutation, DamagedFilesDecodeOrAreRefused) {
  Mutations mutations;
  const Bytes whole = test::build_png(small_image(mutations));
  const auto decoder = make_decoder(spec::DecoderKind::fast);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    Bytes file = whole;
    mutations.damage(file);
    try {
      decoder->decode(file, "x.png");
    } catch (const DataError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 2800);  // nearly every change breaks a CRC
}

// The CRCs around the damaged zlib stream are correct, so that the damage reaches inflating and unfiltering.
TEST(DecodeMutation, DamagedImageDataDecodesOrIsRefusedByAllAlike) {
  Mutations mutations;
  const test::PngRecipe whole = small_image(mutations);
  const std::vector<std::uint8_t> stream = test::deflate(whole.rows);
  PngDecoder plain(Isa::plain, make_zlib_inflater());
  PngDecoder fast;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    test::PngRecipe recipe = whole;
    recipe.image_data = stream;
    mutations.damage(recipe.image_data);
    const Bytes file = test::build_png(recipe);
    const bool fast_refuses = refuses(fast, file);
    ASSERT_EQ(refuses(plain, file), fast_refuses) << "round " << round;
    refused += fast_refuses ? 1 : 0;
  }
  EXPECT_GT(refused, 2500);
}

// Filter bytes and sizes are random and need not fit together, but the stream is valid.
TEST(DecodeMutation, DamagedRowsAndHeadersDecodeOrAreRefused) {
  Mutations mutations;
  const test::PngRecipe whole = small_image(mutations);
  PngDecoder fast;
  int refused = 0;
  for (int round = 0; round < 1500; ++round) {
    test::PngRecipe recipe = whole;
    mutations.damage(recipe.rows);
    if (round % 2 == 0) recipe.width = static_cast<std::uint32_t>(1 + mutations.below(200));
    const Bytes file = test::build_png(recipe);
    refused += refuses(fast, file) ? 1 : 0;
  }
  EXPECT_GT(refused, 500);
}

TEST(DecodeMutation, DamagedXraysAreRefused) {
  Mutations mutations;
  storage::ByteBuffer buffer;
  const std::span<const std::byte> xray = storage::read_file(CHEXBENCH_TEST_DATA "/images/00000001_000.png", buffer);
  const auto decoder = make_decoder(spec::DecoderKind::fast);
  for (int round = 0; round < 100; ++round) {
    Bytes file(xray.begin(), xray.end());
    file[mutations.below(file.size() - 12)] ^= std::byte{0x10};
    EXPECT_THROW(decoder->decode(file, "x.png"), DataError) << "round " << round;
  }
}

}  // namespace
}  // namespace chexbench::image
