// The row kernels of resizing and normalizing, in plain C++, AVX2 and AVX-512. All give the same bits, because they do
// the same operations on the same floats in the same order, and multiply and then add instead of using fused
// operations. Also the tables of source pixels that they read, which are computed once per image size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/isa.hpp"

namespace chexbench::image {

// Tables and rows of output columns are padded to a multiple of this. Kernels compute the padding, but it is never
// delivered.
inline constexpr int kColumnBlock = 16;
constexpr int padded_columns(int columns) { return (columns + kColumnBlock - 1) / kColumnBlock * kColumnBlock; }

// The columns of a bilinear resize: output column i is left + weight[i] * (right - left), where left and right are the
// source columns first[i] and second[i]. In a row of red, green and blue, each byte is a column here.
struct LinearColumns {
  // A byte for each output of a block: `word` counts 32-bit words of a window, `shift` the bits below the byte.
  struct Picks {
    alignas(64) std::int32_t word[kColumnBlock] = {};
    alignas(64) std::int32_t shift[kColumnBlock] = {};
  };
  // For a block of kColumnBlock outputs whose source columns are within 128 bytes: their positions among those.
  struct Window {
    int base = 0;  // source column of the first of the 128 bytes
    Picks first;
    Picks second;
  };

  int source_width = 0;
  int columns = 0;  // before padding
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  std::vector<float> weight;
  // For gathers of 4 bytes that stay within the row: the column to read from, and how many bits to shift right. Empty
  // if the source is narrower than 4.
  std::vector<std::int32_t> gather;
  std::vector<std::int32_t> first_shift;
  std::vector<std::int32_t> second_shift;
  // Empty unless every block fits into a window.
  std::vector<Window> windows;
};

// The columns of an area resize: output column i is the sum of weight[t * padded + i] * row[start[i] + t * step] over
// the taps t, in ascending order. Columns with fewer taps than `taps` have zero weights for the rest. In a row of red,
// green and blue, each byte is a column here.
struct AreaColumns {
  int columns = 0;  // before padding
  int padded = 0;
  int taps = 0;
  int step = 1;  // from a tap to the next: the number of channels

  std::size_t reach() const { return static_cast<std::size_t>(taps) * static_cast<std::size_t>(step); }
  std::vector<std::int32_t> start;
  std::vector<float> weight;
};

// Computes (value / 255 - mean[c]) / std[c] of channel c as value * scale[c] + offset[c].
struct Normalization {
  float scale[3];
  float offset[3];
};

// The kernels of one implementation. Thread-safe. Pointers need no alignment.
struct RowKernels {
  // Interpolates one source row; writes padded_columns(columns.columns) values to `out`.
  void (*interpolate)(const std::uint8_t* row, const LinearColumns& columns, float* out);
  // out = upper + weight * (lower - upper). `count` must be a multiple of kColumnBlock. `out` may be `upper`.
  void (*blend)(const float* upper, const float* lower, float weight, float* out, std::size_t count);
  // sum += weight * row, for any count.
  void (*accumulate)(const std::uint8_t* row, float weight, float* sum, std::size_t count);
  // Writes columns.padded values to `out`. After its last column, `row` must have columns.reach() readable, finite
  // floats.
  void (*sum_area)(const float* row, const AreaColumns& columns, float* out);
  // Writes 3 channels from the same gray values, as HWC: 3 * count floats. For any count.
  void (*write_f32)(const float* gray, const Normalization& normalization, float* out, std::size_t count);
  // Normalizes `count` pixels of red, green and blue: 3 * count floats. For any count.
  void (*write_rgb_f32)(const float* rgb, const Normalization& normalization, float* out, std::size_t count);
  // Rounds to the nearest integer, for any count. `values` must be within 0..255, apart from rounding errors.
  void (*write_u8)(const float* values, std::uint8_t* out, std::size_t count);
};

extern const RowKernels kPlainRows;
extern const RowKernels kAvx2Rows;
extern const RowKernels kAvx512Rows;

// Returns the kernels of `isa`, which must be supported() if they are called.
const RowKernels& row_kernels(Isa isa);

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
