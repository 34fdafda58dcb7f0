// What a trial makes of an image before a network sees it.
#pragma once

#include "spec/experiment.hpp"

namespace chexbench::image {

// The side of the square images, in pixels, and the method that resizes to it: what identifies cached pixels.
struct PixelSpec {
  int image_size = 224;
  spec::ResizeMethod resize = spec::ResizeMethod::bilinear;
  friend bool operator==(const PixelSpec&, const PixelSpec&) = default;
};

}  // namespace chexbench::image
