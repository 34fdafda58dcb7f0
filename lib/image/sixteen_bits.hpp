// How pixels of 16 bits become 8 bits.
#pragma once

#include <cstdint>

namespace chexbench::image {

// Returns value * 255 / 65535, rounded: black stays black and white stays white, as with libpng's png_set_scale_16,
// whose formula this is. Cutting the low byte off instead, as png_set_strip_16 does, darkens by half a level on
// average.
constexpr std::uint8_t scaled_to_8_bits(std::uint16_t value) {
  return static_cast<std::uint8_t>((std::uint32_t{value} * 255 + 32895) >> 16);
}

}  // namespace chexbench::image
