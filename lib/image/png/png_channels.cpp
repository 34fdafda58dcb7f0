#include "image/png/png_channels.hpp"

#include <cstring>

#include "image/sixteen_bits.hpp"

namespace chexbench::image {
namespace {

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

}  // namespace

void split_channel(const std::uint8_t* rows, int width, int height, int channels, int channel, std::uint8_t* out) {
  if (channels == 4) return split_rows<4>(rows, width, height, channel, out);
  if (channels == 3) return split_rows<3>(rows, width, height, channel, out);
  split_rows<2>(rows, width, height, channel, out);
}

bool is_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height) {
  const auto bytes = static_cast<std::size_t>(width);
  for (int y = 0; y < height; ++y) {
    if (std::memcmp(red.row(y), green.row(y), bytes) != 0) return false;
    if (std::memcmp(red.row(y), blue.row(y), bytes) != 0) return false;
  }
  return true;
}

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

void scale_rows(const PixelRows& high, const PixelRows& low, int width, int height) {
  for (int y = 0; y < height; ++y) {
    std::uint8_t* const h = high.row(y);
    const std::uint8_t* const l = low.row(y);
    for (int x = 0; x < width; ++x) h[x] = scaled_to_8_bits(static_cast<std::uint16_t>(h[x] << 8 | l[x]));
  }
}

}  // namespace chexbench::image
