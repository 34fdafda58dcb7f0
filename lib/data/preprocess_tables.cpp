#include "data/preprocess_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace chexbench::data {
namespace {

// Vector kernels read 4 bytes at a time and windows of 128; a row narrower than that goes another way.
constexpr int kGatherBytes = 4;
constexpr int kWindowBytes = 128;

// The tap of a padded, possibly mirrored output column: padding repeats the last.
std::size_t tap_of(int column, int output, bool flip) {
  const int inside = std::min(column, output - 1);
  return static_cast<std::size_t>(flip ? output - 1 - inside : inside);
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
      window.first[4 * i] = static_cast<std::uint8_t>(first);
      window.second[4 * i] = static_cast<std::uint8_t>(second);
    }
    columns.windows.push_back(window);
  }
}

}  // namespace

std::vector<LinearTap> linear_taps(int source, int output) {
  std::vector<LinearTap> taps(static_cast<std::size_t>(output));
  const double scale = static_cast<double>(source) / output;
  for (int i = 0; i < output; ++i) {
    const double center = std::clamp((i + 0.5) * scale - 0.5, 0.0, static_cast<double>(source - 1));
    const int first = static_cast<int>(center);
    taps[static_cast<std::size_t>(i)] = {first, std::min(first + 1, source - 1), static_cast<float>(center - first)};
  }
  return taps;
}

std::vector<AreaTap> area_taps(int source, int output) {
  std::vector<AreaTap> taps(static_cast<std::size_t>(output));
  for (int i = 0; i < output; ++i) {
    // In units of 1/output of a source pixel all borders are integers, so nothing is rounded.
    const std::int64_t begin = static_cast<std::int64_t>(i) * source;
    const std::int64_t end = begin + source;
    AreaTap& tap = taps[static_cast<std::size_t>(i)];
    tap.start = static_cast<int>(begin / output);
    for (std::int64_t pixel = tap.start; pixel * output < end; ++pixel) {
      const std::int64_t overlap = std::min(end, (pixel + 1) * output) - std::max(begin, pixel * output);
      tap.weights.push_back(static_cast<float>(static_cast<double>(overlap) / source));
    }
  }
  return taps;
}

LinearColumns linear_columns(int source, int output, bool flip) {
  const std::vector<LinearTap> taps = linear_taps(source, output);
  LinearColumns columns;
  columns.source_width = source;
  columns.columns = output;
  for (int i = 0; i < padded_columns(output); ++i) {
    const LinearTap& tap = taps[tap_of(i, output, flip)];
    columns.first.push_back(tap.first);
    columns.second.push_back(tap.second);
    columns.weight.push_back(tap.weight);
  }
  add_gathers(columns);
  add_windows(columns);
  return columns;
}

AreaColumns area_columns(int source, int output, bool flip) {
  const std::vector<AreaTap> taps = area_taps(source, output);
  AreaColumns columns;
  columns.columns = output;
  columns.padded = padded_columns(output);
  for (const AreaTap& tap : taps) columns.taps = std::max(columns.taps, static_cast<int>(tap.weights.size()));
  columns.weight.resize(static_cast<std::size_t>(columns.taps) * static_cast<std::size_t>(columns.padded));
  for (int i = 0; i < columns.padded; ++i) {
    const AreaTap& tap = taps[tap_of(i, output, flip)];
    columns.start.push_back(tap.start);
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

}  // namespace chexbench::data
