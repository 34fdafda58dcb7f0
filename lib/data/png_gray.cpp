#include "data/png_gray.hpp"

#include <fmt/format.h>

namespace chexbench::data {

std::optional<std::string> PngGrayDecoder::decode(const PngFile& png) {
  const auto height = static_cast<std::size_t>(png.height);
  const std::size_t filtered_bytes = height * (static_cast<std::size_t>(png.width) + 1);
  const std::size_t stride = static_cast<std::size_t>(png.width) + kUnfilterRowGap;
  auto* const filtered =
      reinterpret_cast<std::uint8_t*>(filtered_.reserve(filtered_bytes + 2 * kUnfilterSlack)) + kUnfilterSlack;
  auto* const pixels =
      reinterpret_cast<std::uint8_t*>(pixels_.reserve(height * stride + 2 * kUnfilterSlack)) + kUnfilterSlack;

  if (const auto reason = inflater_->inflate(png.image_data, {filtered, filtered_bytes})) {
    return fmt::format("byte {}: bad zlib stream in PNG chunk IDAT: {}", png.image_data_offset, *reason);
  }
  const int unknown = unfilter_.run({filtered, png.width, png.height}, {pixels, stride});
  if (unknown >= 0) {
    return fmt::format("byte {}: unknown row filter in row {} of the PNG", png.image_data_offset, unknown);
  }
  image_ = {pixels, png.width, png.height, stride};
  return std::nullopt;
}

}  // namespace chexbench::data
