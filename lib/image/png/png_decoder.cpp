#include "image/png/png_decoder.hpp"

#include <fmt/format.h>

#include <cstring>

namespace chexbench::image {
namespace {

// Treats images of several bytes per pixel as one gray image for each of these bytes, which are its channels here:
// those of colors, or the high and the low bytes of 16 bits. PNG's filters predict a byte from bytes of the same
// channel, so the filtered bytes of a channel are those of a gray image.

// The number of channels is a constant, because the compiler uses shuffles only then.
template <int kChannels>
void split_rows(const std::uint8_t* rows, int width, int height, int channel, std::uint8_t* out) {
  for (int y = 0; y < height; ++y) {
    *out++ = *rows++;
    for (int x = 0; x < width; ++x) out[x] = rows[kChannels * x + channel];
    out += width;
    rows += static_cast<std::size_t>(width) * kChannels;
  }
}

// Copies one channel to `out`, where each of the `height` packed rows has its filter byte and `width` bytes. `rows` has
// the same filter bytes, each followed by `width` pixels of `channels` (2, 3 or 4) bytes.
void split_channel(const std::uint8_t* rows, int width, int height, int channels, int channel, std::uint8_t* out) {
  if (channels == 4) return split_rows<4>(rows, width, height, channel, out);
  if (channels == 3) return split_rows<3>(rows, width, height, channel, out);
  split_rows<2>(rows, width, height, channel, out);
}

// Returns true if red, green and blue are equal in all pixels.
bool is_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height) {
  const auto bytes = static_cast<std::size_t>(width);
  for (int y = 0; y < height; ++y) {
    if (std::memcmp(red.row(y), green.row(y), bytes) != 0) return false;
    if (std::memcmp(red.row(y), blue.row(y), bytes) != 0) return false;
  }
  return true;
}

// Writes the gray values of `width` x `height` pixels over `red`: 0.299 red + 0.587 green + the rest blue, with weights
// of 15 bits; weights and sum are truncated. This is png_set_rgb_to_gray of libpng 1.6, which OpenCV calls.
void mix_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height) {
  constexpr std::uint32_t kRed = 9797;
  constexpr std::uint32_t kGreen = 19234;
  constexpr std::uint32_t kBlue = (1u << 15) - kRed - kGreen;
  for (int y = 0; y < height; ++y) {
    std::uint8_t* const r = red.row(y);
    const std::uint8_t* const g = green.row(y);
    const std::uint8_t* const b = blue.row(y);
    for (int x = 0; x < width; ++x)
      r[x] = static_cast<std::uint8_t>((kRed * r[x] + kGreen * g[x] + kBlue * b[x]) >> 15);
  }
}

// Writes interleaved red, green and blue to `rgb`, which has packed rows.
void join_channels(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height,
                   std::uint8_t* rgb) {
  for (int y = 0; y < height; ++y) {
    const std::uint8_t* const r = red.row(y);
    const std::uint8_t* const g = green.row(y);
    const std::uint8_t* const b = blue.row(y);
    for (int x = 0; x < width; ++x) {
      *rgb++ = r[x];
      *rgb++ = g[x];
      *rgb++ = b[x];
    }
  }
}

// Writes pixels of 16 bits over their high bytes, scaled to 8 (decoded_image.hpp).
void scale_rows(const PixelRows& high, const PixelRows& low, int width, int height) {
  for (int y = 0; y < height; ++y) {
    std::uint8_t* const h = high.row(y);
    const std::uint8_t* const l = low.row(y);
    for (int x = 0; x < width; ++x) h[x] = scaled_to_8_bits(static_cast<std::uint16_t>(h[x] << 8 | l[x]));
  }
}

std::uint8_t* reserve_with_slack(storage::ByteBuffer& buffer, std::size_t bytes) {
  return reinterpret_cast<std::uint8_t*>(buffer.reserve(bytes + 2 * kUnfilterSlack)) + kUnfilterSlack;
}

}  // namespace

std::optional<std::string> PngDecoder::decode(const PngFile& png) {
  const auto height = static_cast<std::size_t>(png.height);
  const std::size_t row_bytes = static_cast<std::size_t>(png.width) * static_cast<std::size_t>(png.pixel_bytes());
  const std::size_t filtered_bytes = height * (row_bytes + 1);
  std::uint8_t* const filtered = reserve_with_slack(filtered_, filtered_bytes);
  if (const auto reason = inflater_->inflate(png.image_data, {filtered, filtered_bytes})) {
    return fmt::format("byte {}: bad zlib stream in PNG chunk IDAT: {}", png.image_data_offset, *reason);
  }
  needs_gamma_ = false;
  const int unknown = png.pixel_bytes() == 1 ? unfilter(png, filtered, pixels_[0]) : unfilter_channels(png, filtered);
  if (unknown >= 0) {
    return fmt::format("byte {}: unknown row filter in row {} of the PNG", png.image_data_offset, unknown);
  }
  if (needs_gamma_) {
    return fmt::format("byte {}: PNG of colors with a chunk that describes them", png.image_data_offset);
  }
  if (gives_rgb(png)) {
    image_ = joined_channels(png);
    return std::nullopt;
  }
  const PixelRows gray = pixel_rows(pixels_[0], png);
  image_ = {gray.pixels, png.width, png.height, gray.stride};
  return std::nullopt;
}

DecodedImage PngDecoder::joined_channels(const PngFile& png) {
  constexpr int kChannels = 3;
  const std::size_t stride = static_cast<std::size_t>(png.width) * kChannels;
  auto* const rgb = reinterpret_cast<std::uint8_t*>(rgb_.reserve(stride * static_cast<std::size_t>(png.height)));
  join_channels(pixel_rows(pixels_[0], png), pixel_rows(pixels_[1], png), pixel_rows(pixels_[2], png), png.width,
                png.height, rgb);
  return {rgb, png.width, png.height, stride, kChannels};
}

PixelRows PngDecoder::pixel_rows(storage::ByteBuffer& pixels, const PngFile& png) const {
  const std::size_t stride = static_cast<std::size_t>(png.width) + kUnfilterRowGap;
  return {reserve_with_slack(pixels, static_cast<std::size_t>(png.height) * stride), stride};
}

int PngDecoder::unfilter(const PngFile& png, const std::uint8_t* rows, storage::ByteBuffer& pixels) {
  return unfilter_.run({rows, png.width, png.height}, pixel_rows(pixels, png));
}

int PngDecoder::unfilter_channels(const PngFile& png, const std::uint8_t* rows) {
  const std::size_t bytes = static_cast<std::size_t>(png.height) * (static_cast<std::size_t>(png.width) + 1);
  std::uint8_t* const channel = reserve_with_slack(channel_, bytes);
  const int kept = png.bit_depth == 16 ? 2 : png.has_colors() ? 3 : 1;  // without alpha
  for (int byte = 0; byte < kept; ++byte) {
    split_channel(rows, png.width, png.height, png.pixel_bytes(), byte, channel);
    const int unknown = unfilter(png, channel, pixels_[static_cast<std::size_t>(byte)]);
    if (unknown >= 0) return unknown;
  }
  if (kept == 1) return -1;
  if (kept == 2) {
    scale_rows(pixel_rows(pixels_[0], png), pixel_rows(pixels_[1], png), png.width, png.height);
    return -1;
  }
  if (gives_rgb(png)) return -1;
  const PixelRows red = pixel_rows(pixels_[0], png);
  const PixelRows green = pixel_rows(pixels_[1], png);
  const PixelRows blue = pixel_rows(pixels_[2], png);
  needs_gamma_ = png.describes_colors && !is_gray(red, green, blue, png.width, png.height);
  if (!png.describes_colors) mix_gray(red, green, blue, png.width, png.height);
  return -1;
}

}  // namespace chexbench::image
