#include "pipeline/augmentation.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"

namespace chexbench::pipeline {
namespace {

RandomStream stream_of(std::string_view what, std::uint64_t seed, const ExampleId& id) {
  return RandomStream(derive_seed(derive_seed(derive_seed(seed, fnv1a64(what)), id.image), id.epoch));
}

int part_of(int side, double share) { return std::clamp(static_cast<int>(std::lround(share * side)), 1, side); }

struct Corner {
  int x = 0;
  int y = 0;
};

image::GrayImage window(const image::GrayImage& image, double share, Corner corner) {
  return {.pixels = image.pixels + static_cast<std::size_t>(corner.y) * image.stride + corner.x,
          .width = part_of(image.width, share),
          .height = part_of(image.height, share),
          .stride = image.stride};
}

// The largest coordinates that the upper left corner of a window can have.
Corner room(const image::GrayImage& image, double share) {
  return {image.width - part_of(image.width, share), image.height - part_of(image.height, share)};
}

}  // namespace

bool is_flipped(std::uint64_t seed, const ExampleId& id) { return stream_of("flip", seed, id).uniform() < 0.5; }

image::GrayImage random_window(const image::GrayImage& image, double share, std::uint64_t seed, const ExampleId& id) {
  RandomStream random = stream_of("crop", seed, id);
  const Corner most = room(image, share);
  const auto drawn = [&random](int last) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(last) + 1));
  };
  const int x = drawn(most.x);
  return window(image, share, {x, drawn(most.y)});
}

image::GrayImage middle_window(const image::GrayImage& image, double share) {
  const Corner most = room(image, share);
  return window(image, share, {most.x / 2, most.y / 2});
}

}  // namespace chexbench::pipeline
