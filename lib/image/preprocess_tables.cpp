#include "image/preprocess_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace chexbench::image {
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
