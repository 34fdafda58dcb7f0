#include "image/preprocess_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

namespace {

// Vector kernels gather 4 bytes at a time or load windows of 128. Narrower rows use the next simpler method.
constexpr int kGatherBytes = 4;
constexpr int kWindowBytes = 128;

// Returns the tap of an output column, which may be mirrored or in the padding. The padding repeats the last pixel.
std::size_t tap_of(int column, const RowShape& row) {
  const int inside = std::min(column / row.channels, row.output - 1);
  return static_cast<std::size_t>(row.flip ? row.output - 1 - inside : inside);
}

void add_gathers(LinearColumns& columns) {
  if (columns.source_width < kGatherBytes) return;
  for (std::size_t i = 0; i < columns.first.size(); ++i) {
    const std::int32_t from = std::min(columns.first[i], columns.source_width - kGatherBytes);
    columns.gather.push_back(from);
    columns.first_shift.push_back(8 * (columns.first[i] - from));
    columns.second_shift.push_back(8 * (columns.second[i] - from));
  }
}

void pick_byte(LinearColumns::Picks& picks, std::size_t output, int byte) {
  constexpr int kWordBytes = 4;
  picks.word[output] = byte / kWordBytes;
  picks.shift[output] = 8 * (byte % kWordBytes);
}

void add_windows(LinearColumns& columns) {
  if (columns.source_width < kWindowBytes) return;
  for (std::size_t block = 0; block < columns.first.size(); block += kColumnBlock) {
    const auto begin = columns.first.begin() + static_cast<std::ptrdiff_t>(block);
    const int lowest = *std::min_element(begin, begin + kColumnBlock);
    LinearColumns::Window window;
    window.base = std::min(lowest, columns.source_width - kWindowBytes);
    for (std::size_t i = 0; i < kColumnBlock; ++i) {
      const int first = columns.first[block + i] - window.base;
      const int second = columns.second[block + i] - window.base;
      if (second >= kWindowBytes) {
        columns.windows.clear();
        return;
      }
      pick_byte(window.first, i, first);
      pick_byte(window.second, i, second);
    }
    columns.windows.push_back(window);
  }
}

}  // namespace

// TensorFlow computes source coordinates in float. Near 1024 their rounding moves a result by up to 1e-5, so we round
// in the same way (tensorflow/core/util/image_resizer_state.h, kernels/image/resize_bilinear_op.cc and
// resize_area_op.cc).
std::vector<LinearTap> linear_taps(int source, int output) {
  std::vector<LinearTap> taps(static_cast<std::size_t>(output));
  const float scale = static_cast<float>(source) / static_cast<float>(output);
  for (int i = 0; i < output; ++i) {
    const float center = (static_cast<float>(i) + 0.5f) * scale - 0.5f;
    const float below = std::floor(center);
    const int second = std::min(static_cast<int>(std::ceil(center)), source - 1);
    const int first = std::min(std::max(static_cast<int>(below), 0), second);
    taps[static_cast<std::size_t>(i)] = {first, second, center - below};
  }
  return taps;
}

std::vector<AreaTap> area_taps(int source, int output) {
  std::vector<AreaTap> taps(static_cast<std::size_t>(output));
  const float scale = static_cast<float>(source) / static_cast<float>(output);
  for (int i = 0; i < output; ++i) {
    const float begin = static_cast<float>(i) * scale;
    const float end = std::min(static_cast<float>(i + 1) * scale, static_cast<float>(source));
    AreaTap& tap = taps[static_cast<std::size_t>(i)];
    tap.start = static_cast<int>(begin);
    for (int pixel = tap.start; static_cast<float>(pixel) < end; ++pixel) {
      const float from = std::max(begin, static_cast<float>(pixel));
      const float to = std::min(end, static_cast<float>(pixel + 1));
      tap.weights.push_back((to - from) / scale);
    }
  }
  return taps;
}

LinearColumns linear_columns(const RowShape& row) {
  const std::vector<LinearTap> taps = linear_taps(row.source, row.output);
  LinearColumns columns;
  columns.source_width = row.source * row.channels;
  columns.columns = row.output * row.channels;
  for (int i = 0; i < padded_columns(columns.columns); ++i) {
    const LinearTap& tap = taps[tap_of(i, row)];
    columns.first.push_back(tap.first * row.channels + i % row.channels);
    columns.second.push_back(tap.second * row.channels + i % row.channels);
    columns.weight.push_back(tap.weight);
  }
  add_gathers(columns);
  add_windows(columns);
  return columns;
}

AreaColumns area_columns(const RowShape& row) {
  const std::vector<AreaTap> taps = area_taps(row.source, row.output);
  AreaColumns columns;
  columns.columns = row.output * row.channels;
  columns.padded = padded_columns(columns.columns);
  columns.step = row.channels;
  for (const AreaTap& tap : taps) columns.taps = std::max(columns.taps, static_cast<int>(tap.weights.size()));
  columns.weight.resize(static_cast<std::size_t>(columns.taps) * static_cast<std::size_t>(columns.padded));
  for (int i = 0; i < columns.padded; ++i) {
    const AreaTap& tap = taps[tap_of(i, row)];
    columns.start.push_back(tap.start * row.channels + i % row.channels);
    for (std::size_t t = 0; t < tap.weights.size(); ++t) {
      columns.weight[t * static_cast<std::size_t>(columns.padded) + static_cast<std::size_t>(i)] = tap.weights[t];
    }
  }
  return columns;
}

Normalization imagenet_normalization() {
  constexpr std::array<double, 3> kMean = {0.485, 0.456, 0.406};
  constexpr std::array<double, 3> kStd = {0.229, 0.224, 0.225};
  Normalization normalization{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    normalization.scale[channel] = static_cast<float>(1.0 / (255.0 * kStd[channel]));
    normalization.offset[channel] = static_cast<float>(-kMean[channel] / kStd[channel]);
  }
  return normalization;
}

}  // namespace chexbench::image
