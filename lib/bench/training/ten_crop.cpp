#include "bench/training/ten_crop.hpp"

#include <cmath>
#include <cstring>

namespace chexbench::bench {
namespace {

// Copies a row of `pixels` pixels, from right to left if `mirrored`.
void copy_row(const std::byte* from, std::byte* to, std::size_t pixels, std::size_t pixel_bytes, bool mirrored) {
  if (!mirrored) {
    std::memcpy(to, from, pixels * pixel_bytes);
    return;
  }
  for (std::size_t x = 0; x < pixels; ++x)
    std::memcpy(to + x * pixel_bytes, from + (pixels - 1 - x) * pixel_bytes, pixel_bytes);
}

}  // namespace

spec::TrialSpec ten_crop_input(spec::TrialSpec spec) {
  spec.model.image_size = static_cast<int>(std::lround(spec.model.image_size * 256.0 / 224.0));
  spec.preprocess.crop = 1;
  return spec;
}

void copy_crop(Batch& whole, int crop, Batch& part) {
  constexpr int kPlaces = kCrops / 2;  // corners and middle; the second half of the crops is mirrored
  const int place = crop % kPlaces;
  const int room_x = whole.shape.width - part.shape.width, room_y = whole.shape.height - part.shape.height;
  // torchvision's center_crop rounds half to even, as nearbyint() does.
  const auto middle = [](int room) { return static_cast<int>(std::nearbyint(room / 2.0)); };
  const int left = place == 4 ? middle(room_x) : place % 2 == 1 ? room_x : 0;
  const int top = place == 4 ? middle(room_y) : place / 2 == 1 ? room_y : 0;
  const std::size_t pixel_bytes = static_cast<std::size_t>(part.shape.channels()) * part.shape.element_bytes();
  const std::size_t whole_row = static_cast<std::size_t>(whole.shape.width) * pixel_bytes;
  const auto width = static_cast<std::size_t>(part.shape.width);
  part.valid = whole.valid;
  for (int image = 0; image < whole.valid; ++image) {
    for (int y = 0; y < part.shape.height; ++y) {
      const std::byte* const from = whole.image(image) + static_cast<std::size_t>(top + y) * whole_row +
                                    static_cast<std::size_t>(left) * pixel_bytes;
      copy_row(from, part.image(image) + static_cast<std::size_t>(y) * width * pixel_bytes, width, pixel_bytes,
               crop >= kPlaces);
    }
  }
}

}  // namespace chexbench::bench
