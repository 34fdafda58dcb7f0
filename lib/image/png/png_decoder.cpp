#include "image/png/png_decoder.hpp"

#include <fmt/format.h>

#include "image/png/png_channels.hpp"

namespace chexbench::image {
namespace {

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
