// Identifies the pixels that a trial makes of an image before a network sees it.
#pragma once

#include "spec/experiment.hpp"

namespace chexbench::image {

// Cached pixels can be reused by trials with an equal PixelSpec.
struct PixelSpec {
  int image_size = 224;  // side of the square images, in pixels
  spec::ResizeMethod resize = spec::ResizeMethod::bilinear;
  friend bool operator==(const PixelSpec&, const PixelSpec&) = default;
};

}  // namespace chexbench::image
