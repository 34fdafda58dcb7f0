// Images of several channels, one channel at a time: PNG's filters predict a byte from bytes of its own channel, so a
// channel's filtered bytes are those of a gray image.
#pragma once

#include "image/png/png_unfilter.hpp"

namespace chexbench::image {

// Copies channel `channel` of `height` rows (1 filter byte, then `width` pixels of `channels` bytes) to `out`, packed,
// each row with its filter byte: (width + 1) * height bytes.
void split_channel(const std::uint8_t* rows, int width, int height, int channels, int channel, std::uint8_t* out);

// Gray of `width` x `height` pixels, written over `red`: 0.299 red + 0.587 green + the rest blue, both weights and the
// sum truncated, in 15 bits: png_set_rgb_to_gray of libpng 1.6, which OpenCV calls. All three have one stride.
void mix_gray(const PixelRows& red, const PixelRows& green, const PixelRows& blue, int width, int height);

}  // namespace chexbench::image
