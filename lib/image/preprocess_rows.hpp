// The row kernels of resizing and normalizing: plain, AVX2 and AVX-512. All give the same bits: the same operations on
// the same floats in the same order, multiply then add, never fused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/isa.hpp"

namespace chexbench::image {

// Tables and rows of output columns are padded to a multiple of this; the padding is computed and never delivered.
inline constexpr int kColumnBlock = 16;
constexpr int padded_columns(int columns) { return (columns + kColumnBlock - 1) / kColumnBlock * kColumnBlock; }

// Bilinear: output column i is left + weight * (right - left) of the source columns first[i] and second[i].
struct LinearColumns {
  // Columns of one block of kColumnBlock outputs that lie within 128 bytes: the bytes to pick from there.
  struct Window {
    int base = 0;
    alignas(64) std::uint8_t first[64] = {};  // every fourth byte counts: index of the 32-bit lane's low byte
    alignas(64) std::uint8_t second[64] = {};
  };

  int source_width = 0;
  int columns = 0;  // before padding
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  std::vector<float> weight;
  // For gathers of 4 bytes that stay within the row: where to read, and how far to shift. Empty if narrower than 4.
  std::vector<std::int32_t> gather;
  std::vector<std::int32_t> first_shift;
  std::vector<std::int32_t> second_shift;
  // Empty unless every block fits.
  std::vector<Window> windows;
};

// Area: output column i is the sum over tap t of weight[t * padded + i] * row[start[i] + t], t ascending; weights of
// taps beyond a column's own are zero.
struct AreaColumns {
  int columns = 0;  // before padding
  int padded = 0;
  int taps = 0;
  std::vector<std::int32_t> start;
  std::vector<float> weight;
};

// (gray / 255 - mean) / std of channel c, as gray * scale[c] + offset[c].
struct Normalization {
  float scale[3];
  float offset[3];
};

// `count` is a multiple of kColumnBlock unless said otherwise. Pointers need no alignment.
struct RowKernels {
  // One source row to out[padded columns].
  void (*interpolate)(const std::uint8_t* row, const LinearColumns& columns, float* out);
  // out = upper + weight * (lower - upper); out may be upper.
  void (*blend)(const float* upper, const float* lower, float weight, float* out, std::size_t count);
  // sum += weight * row, any count.
  void (*accumulate)(const std::uint8_t* row, float weight, float* sum, std::size_t count);
  // `row` has taps readable, finite floats after its last.
  void (*sum_area)(const float* row, const AreaColumns& columns, float* out);
  // 3 equal-source channels, HWC: out[3 * count]. Any count.
  void (*write_f32)(const float* gray, const Normalization& normalization, float* out, std::size_t count);
  // Round to nearest, any count; gray within 0..255 and a little rounding.
  void (*write_u8)(const float* gray, std::uint8_t* out, std::size_t count);
};

extern const RowKernels kPlainRows;
extern const RowKernels kAvx2Rows;
extern const RowKernels kAvx512Rows;

const RowKernels& row_kernels(Isa isa);

}  // namespace chexbench::image
