// Which chunks of a PNG can change its pixels.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace chexbench::image {

// Returns true for chunks of texts, times and places, which change no pixels and which libpng would inflate or warn of,
// and for those of an animation, of which only the still image is wanted.
bool is_left_out(std::string_view type);

// Returns true for chunks that say what the color values mean. Where they tell a gamma, libpng mixes red, green and
// blue to gray in linear light. Values that are gray already stay as they are, so these chunks matter to colors alone.
bool describes_colors(std::string_view type);

// Returns true for chunks that are not critical and that our own decoder does not heed: transparency and orientation.
bool changes_pixels(std::string_view type);

// Returns true if the data of an iCCP chunk are an ICC profile for gray images. In a file of colors libpng warns of
// such a profile and heeds neither it nor the chunks after it that describe colors.
bool is_gray_profile(std::span<const std::byte> data);

}  // namespace chexbench::image
