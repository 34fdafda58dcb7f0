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

struct Size {
  int width = 0;
  int height = 0;
};

image::DecodedImage window(const image::DecodedImage& image, Size size, Corner corner) {
  return {.pixels = image.pixels + static_cast<std::size_t>(corner.y) * image.stride + corner.x * image.channels,
          .width = size.width,
          .height = size.height,
          .stride = image.stride,
          .channels = image.channels};
}

Size size_of(const image::DecodedImage& image, double share) {
  return {part_of(image.width, share), part_of(image.height, share)};
}

// The largest coordinates that the upper left corner of a window can have.
Corner room(const image::DecodedImage& image, double share) {
  return {image.width - part_of(image.width, share), image.height - part_of(image.height, share)};
}

}  // namespace

bool is_flipped(std::uint64_t seed, const ExampleId& id) { return stream_of("flip", seed, id).uniform() < 0.5; }

image::DecodedImage random_window(const image::DecodedImage& image, double share, std::uint64_t seed,
                                  const ExampleId& id) {
  RandomStream random = stream_of("crop", seed, id);
  const Corner most = room(image, share);
  const auto drawn = [&random](int last) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(last) + 1));
  };
  const int x = drawn(most.x);
  return window(image, size_of(image, share), {x, drawn(most.y)});
}

image::DecodedImage random_resized_window(const image::DecodedImage& image, std::uint64_t seed, const ExampleId& id) {
  constexpr double kLeastArea = 0.08, kNarrowest = 3.0 / 4.0, kWidest = 4.0 / 3.0;
  constexpr int kDraws = 10;
  RandomStream random = stream_of("resized_crop", seed, id);
  const auto drawn = [&random](int last) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(last) + 1));
  };
  const double area = static_cast<double>(image.width) * image.height;
  for (int draw = 0; draw < kDraws; ++draw) {
    const double part = area * (kLeastArea + (1 - kLeastArea) * random.uniform());
    const double shape = std::exp(std::log(kNarrowest) + (std::log(kWidest) - std::log(kNarrowest)) * random.uniform());
    const Size size{static_cast<int>(std::lround(std::sqrt(part * shape))),
                    static_cast<int>(std::lround(std::sqrt(part / shape)))};
    if (size.width < 1 || size.height < 1 || size.width > image.width || size.height > image.height) continue;
    const int y = drawn(image.height - size.height);
    return window(image, size, {drawn(image.width - size.width), y});
  }
  const double shape = std::clamp(static_cast<double>(image.width) / image.height, kNarrowest, kWidest);
  const Size size{std::min(image.width, static_cast<int>(std::lround(image.height * shape))),
                  std::min(image.height, static_cast<int>(std::lround(image.width / shape)))};
  return window(image, size, {(image.width - size.width) / 2, (image.height - size.height) / 2});
}

image::DecodedImage middle_window(const image::DecodedImage& image, double share) {
  const Corner most = room(image, share);
  return window(image, size_of(image, share), {most.x / 2, most.y / 2});
}

}  // namespace chexbench::pipeline
