#include "image/preprocess_rows.hpp"

namespace chexbench::image {
namespace {

void interpolate(const std::uint8_t* row, const LinearColumns& columns, float* out) {
  for (std::size_t i = 0; i < columns.weight.size(); ++i) {
    const float left = row[columns.first[i]];
    const float right = row[columns.second[i]];
    out[i] = left + columns.weight[i] * (right - left);
  }
}

void blend(const float* upper, const float* lower, float weight, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = upper[i] + weight * (lower[i] - upper[i]);
}

void accumulate(const std::uint8_t* row, float weight, float* sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += weight * static_cast<float>(row[i]);
}

void sum_area(const float* row, const AreaColumns& columns, float* out) {
  for (int i = 0; i < columns.padded; ++i) {
    float sum = 0;
    const float* const weight = columns.weight.data() + i;
    const float* const source = row + columns.start[static_cast<std::size_t>(i)];
    for (int tap = 0; tap < columns.taps; ++tap) sum += weight[tap * columns.padded] * source[tap * columns.step];
    out[i] = sum;
  }
}

void write_f32(const float* gray, const Normalization& normalization, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      out[3 * i + channel] = gray[i] * normalization.scale[channel] + normalization.offset[channel];
    }
  }
}

void write_rgb_f32(const float* rgb, const Normalization& normalization, float* out, std::size_t count) {
  for (std::size_t i = 0; i < 3 * count; i += 3) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      out[i + channel] = rgb[i + channel] * normalization.scale[channel] + normalization.offset[channel];
    }
  }
}

void write_u8(const float* values, std::uint8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const int rounded = static_cast<int>(values[i] + 0.5f);
    out[i] = static_cast<std::uint8_t>(rounded > 255 ? 255 : rounded);
  }
}

}  // namespace

const RowKernels kPlainRows = {interpolate, blend, accumulate, sum_area, write_f32, write_rgb_f32, write_u8};

const RowKernels& row_kernels(Isa isa) {
  return isa == Isa::plain ? kPlainRows : isa == Isa::avx2 ? kAvx2Rows : kAvx512Rows;
}

}  // namespace chexbench::image
