// How an image differs from epoch to epoch: mirrored or not, and which part of it is seen. Decided by the image and not
// by its place in the order, so that all pipelines agree.
#pragma once

#include <cstdint>

#include "core/batch.hpp"
#include "image/gray_image.hpp"

namespace chexbench::pipeline {

// Half of the images of an epoch are.
bool is_flipped(std::uint64_t seed, const ExampleId& id);

// A window of `share` of the image's width and height (rounded, a pixel or more), anywhere in it: a view.
image::GrayImage random_window(const image::GrayImage& image, double share, std::uint64_t seed, const ExampleId& id);
// The one in the middle.
image::GrayImage middle_window(const image::GrayImage& image, double share);

}  // namespace chexbench::pipeline
