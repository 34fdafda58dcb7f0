// Treats images of several bytes per pixel as one gray image for each of these bytes, which are its channels here:
// those of colors, or the high and the low bytes of 16 bits. PNG's filters predict a byte from bytes of the same
// channel, so the filtered bytes of a channel are those of a gray image.
#pragma once

#include "image/png/png_unfilter.hpp"

namespace chexbench::image {

// Copies one channel to `out`, where each of the `height` packed rows has its filter byte and `width` bytes. `rows` has
// the same filter bytes, each followed by `width` pixels of `channels` (2, 3 or 4) bytes.
void split_channel(const std::uint8_t* rows, int width, int height, int channels, int channel, std::uint8_t* out);

// Returns true if red, green and blue are equal in all pixels.
bool is_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height);

// Writes the gray values of `width` x `height` pixels over `red`: 0.299 red + 0.587 green + the rest blue, with weights
// of 15 bits; weights and sum are truncated. This is png_set_rgb_to_gray of libpng 1.6, which OpenCV calls.
void mix_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height);

// Writes interleaved red, green and blue to `rgb`, which has packed rows.
void join_channels(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height,
                   std::uint8_t* rgb);

// Writes pixels of 16 bits over their high bytes, scaled to 8 (sixteen_bits.hpp).
void scale_rows(const PixelRows& high, const PixelRows& low, int width, int height);

}  // namespace chexbench::image
