// Random flips and crops: how an image differs from epoch to epoch. Each choice depends only on the seed, the image and
// the epoch, not on the image's position in the order, so all pipelines make the same choices. All functions are
// thread-safe.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "image/decoded_image.hpp"

namespace chexbench::pipeline {

// Whether the image is mirrored left to right in this epoch. The probability is 1/2.
bool is_flipped(std::uint64_t seed, const ExampleId& id);

// Returns a view of `image`: a window at a random position whose width and height are `share` of the image's, rounded
// to whole pixels (at least one). `share` is in (0, 1]; with 1 the window is the whole image.
image::DecodedImage random_window(const image::DecodedImage& image, double share, std::uint64_t seed,
                                  const ExampleId& id);
// Returns a view of a window of 8 to 100 % of the image's area, with width / height from 3/4 to 4/3 (its logarithm is
// uniform), at a random position: torchvision's RandomResizedCrop with its defaults. If none of ten draws lies inside
// of the image, the window is the largest one in its middle of such a shape.
image::DecodedImage random_resized_window(const image::DecodedImage& image, std::uint64_t seed, const ExampleId& id);
// Returns a view of the window of random_window()'s size in the middle of the image.
image::DecodedImage middle_window(const image::DecodedImage& image, double share);

}  // namespace chexbench::pipeline
