// Identifies the pixels that a trial makes of an image before a network sees it.
#pragma once

#include "spec/trial_spec.hpp"

namespace chexbench::image {

// Cached pixels can be reused by trials with an equal PixelSpec.
struct PixelSpec {
  int image_size = 224;  // side of the square images, in pixels
  spec::ResizeMethod resize = spec::ResizeMethod::bilinear;
  spec::Color color = spec::Color::gray;  // gray or rgb

  int channels() const { return color == spec::Color::rgb ? 3 : 1; }
  friend bool operator==(const PixelSpec&, const PixelSpec&) = default;
};

// Returns what a batch of these pixels holds.
constexpr Deliver deliver_of(const PixelSpec& pixels) {
  return pixels.color == spec::Color::rgb ? Deliver::u8_rgb : Deliver::u8;
}

}  // namespace chexbench::image
