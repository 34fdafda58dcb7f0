// Computes which source pixels each output row and column comes from, once per image size.
#pragma once

#include <vector>

#include "image/preprocess_rows.hpp"

namespace chexbench::image {

// One output coordinate of a bilinear resize: value = first + weight * (second - first).
struct LinearTap {
  int first = 0;
  int second = 0;
  float weight = 0;
};

// Returns the `output` taps of a side of `source` pixels, as tf.image.resize(method="bilinear") defines them:
// half-pixel centres, clamped edges, no antialiasing, coordinates computed in float.
std::vector<LinearTap> linear_taps(int source, int output);

// One output coordinate i of an area resize: the mean over the interval [i, i+1) * source/output of the source.
struct AreaTap {
  int start = 0;               // the first source pixel
  std::vector<float> weights;  // of the pixels from `start` on; the sum is 1, apart from rounding errors
};

// Returns the `output` taps of a side of `source` pixels, as tf.image.resize(method="area") defines them, with
// coordinates computed in float.
std::vector<AreaTap> area_taps(int source, int output);

// The columns of a row of pixels, for the row kernels.
struct RowShape {
  int source = 0;  // in pixels
  int output = 0;
  int channels = 1;   // of a pixel, interleaved; each is resized separately
  bool flip = false;  // mirrors the output pixels
};
// Return the same taps as tables for the row kernels.
LinearColumns linear_columns(const RowShape& row);
AreaColumns area_columns(const RowShape& row);

// ImageNet's mean (0.485, 0.456, 0.406) and standard deviation (0.229, 0.224, 0.225).
Normalization imagenet_normalization();

}  // namespace chexbench::image
