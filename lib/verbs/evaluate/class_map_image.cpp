#include "verbs/evaluate/class_map_image.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "image/png/png_writer.hpp"
#include "verbs/evaluate/evaluation_result.hpp"

namespace chexbench::verbs {
namespace {

// Two neighbours of a map along one axis, and the weight of the second.
struct Between {
  int first;
  int second;
  float share;
};

Between between(int pixel, int pixels, int places) {
  const float at = (static_cast<float>(pixel) + 0.5f) * static_cast<float>(places) / static_cast<float>(pixels) - 0.5f;
  const float inside = std::max(at, 0.0f);
  const int first = std::min(static_cast<int>(inside), places - 1);
  return {first, std::min(first + 1, places - 1), inside - static_cast<float>(first)};
}

// Returns the colour of a value from 0 (blue) by 0.5 (green) to 1 (red).
std::array<float, 3> tint(float value) {
  const auto slope = [value](float centre) { return std::clamp(1.5f - std::abs(4 * value - centre), 0.0f, 1.0f); };
  return {255 * slope(3), 255 * slope(2), 255 * slope(1)};
}

}  // namespace

std::vector<std::uint8_t> class_map_image(std::span<const float> map, int rows, int columns,
                                          std::span<const std::uint8_t> gray, int size) {
  const auto [least, largest] = std::ranges::minmax_element(map);
  const float range = *largest > *least ? *largest - *least : 1;
  const auto value = [&](int row, int column) { return map[static_cast<std::size_t>(row * columns + column)]; };
  std::vector<std::uint8_t> rgb;
  rgb.reserve(gray.size() * 3);
  for (int y = 0; y < size; ++y) {
    const Between row = between(y, size, rows);
    for (int x = 0; x < size; ++x) {
      const Between column = between(x, size, columns);
      const auto along = [&](int of_row) {
        return std::lerp(value(of_row, column.first), value(of_row, column.second), column.share);
      };
      const float level = (std::lerp(along(row.first), along(row.second), row.share) - *least) / range;
      const float pixel = gray[static_cast<std::size_t>(y * size + x)];
      for (const float channel : tint(level)) rgb.push_back(static_cast<std::uint8_t>((pixel + channel) / 2 + 0.5f));
    }
  }
  return rgb;
}

std::vector<std::vector<std::byte>> class_map_pngs(const ScoreRow& row, int image_size) {
  image::PngWriter writer;
  std::vector<std::vector<std::byte>> files;
  for (const ClassMap& map : row.maps) {
    const auto rgb = class_map_image(map.values, map.rows, map.columns, row.seen, image_size);
    const std::span<const std::byte> file = writer.encode_rgb(rgb, image_size);
    files.emplace_back(file.begin(), file.end());
  }
  return files;
}

}  // namespace chexbench::verbs
