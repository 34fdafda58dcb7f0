// Where each output row and column comes from. Computed once per image size.
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

// Half-pixel centres, edges clamped, no antialiasing, coordinates in float: tf.image.resize(method="bilinear").
std::vector<LinearTap> linear_taps(int source, int output);

// One output coordinate of an area resize: the mean over the interval [i, i+1) * source/output of the source.
struct AreaTap {
  int start = 0;
  std::vector<float> weights;  // they sum to 1, but for rounding
};

// Coordinates in float, as tf.image.resize(method="area").
std::vector<AreaTap> area_taps(int source, int output);

// The same as tables for the row kernels; `flip` mirrors the output columns.
LinearColumns linear_columns(int source, int output, bool flip);
AreaColumns area_columns(int source, int output, bool flip);

// ImageNet's mean (0.485, 0.456, 0.406) and standard deviation (0.229, 0.224, 0.225).
Normalization imagenet_normalization();

}  // namespace chexbench::image
