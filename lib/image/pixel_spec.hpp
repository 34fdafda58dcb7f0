// Identifies how a trial turns an image into pixels for a network.
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

// Returns the shape of a batch of these pixels.
constexpr Deliver deliver_of(const PixelSpec& pixels) {
  return pixels.color == spec::Color::rgb ? Deliver::u8_rgb : Deliver::u8;
}

}  // namespace chexbench::image
