// Overlays a class activation map on its image.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::verbs {

// Returns `size` x `size` pixels of red, green and blue: the gray image, tinted from blue (the least value of the map)
// by green to red (the largest), in equal parts. The map, [rows, columns], is enlarged linearly, like PyTorch's
// interpolate without align_corners. A constant map is blue.
std::vector<std::uint8_t> class_map_image(std::span<const float> map, int rows, int columns,
                                          std::span<const std::uint8_t> gray, int size);

}  // namespace chexbench::verbs
