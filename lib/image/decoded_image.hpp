// A decoded image, and the limits that decoders respect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace chexbench::image {

// An image of 8 bits a channel: a view of the decoder's memory, valid until its next decode.
struct DecodedImage {
  const std::uint8_t* pixels = nullptr;
  int width = 0;  // in pixels
  int height = 0;
  std::size_t stride = 0;  // bytes from one row to the next, at least `width` x `channels`
  int channels = 1;        // 1 gray; 3 red, green and blue, interleaved
};

// The size, in pixels, below which an image must not shrink while it is decoded. If empty, the image keeps its size.
struct LeastSize {
  int width = 0;
  int height = 0;

  bool empty() const { return width == 0 || height == 0; }
};

// Limits on image files. They are checked against the file's header, before memory is allocated or time is spent.

// Images larger than this on a side are refused.
inline constexpr int kMaxImageSide = 16384;

// The pixels that an image may have unless CHEXBENCH_MAX_IMAGE_PIXELS says otherwise: 8192 x 8192.
inline constexpr std::int64_t kDefaultMaxImagePixels = std::int64_t{64} << 20;

// Returns the most pixels that an image may have: the environment variable CHEXBENCH_MAX_IMAGE_PIXELS, which is read
// once, or the default. Thread-safe.
// @throws SpecError if the variable is not a number from 1 to the square of kMaxImageSide
std::int64_t max_image_pixels();

// Returns why an image of this size is refused and how to fix that, or std::nullopt if it is accepted. Thread-safe.
// @throws SpecError as max_image_pixels()
std::optional<std::string> refuse_size(std::int64_t width, std::int64_t height);

// Returns the most scans that a JPEG of this size may have. A scan of 100 bytes can cost as much as all pixels, so
// large images may have few: 2^30 pixels in all scans together, but at least 16 scans (libjpeg's own script has 10) and
// at most 500 (the limit of libjpeg-turbo's TJFLAG_LIMITSCANS). Thread-safe.
int most_jpeg_scans(std::int64_t width, std::int64_t height);

// Returns how bright a 16-bit pixel is in 8 bits: value * 255 / 65535, rounded: black stays black and white stays
// white, as with libpng's png_set_scale_16, whose formula this is. Cutting the low byte off instead, as
// png_set_strip_16 does, darkens by half a level on average.
constexpr std::uint8_t scaled_to_8_bits(std::uint16_t value) {
  return static_cast<std::uint8_t>((std::uint32_t{value} * 255 + 32895) >> 16);
}

}  // namespace chexbench::image
