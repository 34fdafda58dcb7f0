#include "image/decoded_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/errors.hpp"
#include "core/numbers.hpp"

namespace chexbench::image {
namespace {

constexpr const char* kVariable = "CHEXBENCH_MAX_IMAGE_PIXELS";
constexpr std::int64_t kMostPixels = std::int64_t{kMaxImageSide} * kMaxImageSide;

std::int64_t read_limit() {
  const char* const text = std::getenv(kVariable);
  if (text == nullptr) return kDefaultMaxImagePixels;
  const auto number = parse_number<std::int64_t>(text);
  if (!number || *number < 1 || *number > kMostPixels) {
    throw SpecError(fmt::format("{} must be a number of pixels from 1 to {}, not '{}'", kVariable, kMostPixels, text));
  }
  return *number;
}

}  // namespace

std::int64_t max_image_pixels() {
  static const std::int64_t limit = read_limit();
  return limit;
}

std::optional<std::string> refuse_size(std::int64_t width, std::int64_t height) {
  if (width <= 0 || height <= 0) return fmt::format("image of {}x{} pixels", width, height);
  if (width > kMaxImageSide || height > kMaxImageSide) {
    return fmt::format(
        "image of {}x{} pixels: more than {} a side are refused; shrink or cut the image, or leave it out", width,
        height, kMaxImageSide);
  }
  if (width * height > max_image_pixels()) {
    return fmt::format(
        "image of {}x{} pixels: more than {} in all are refused; shrink the image, leave it out, or set {}={} if it "
        "may take the memory",
        width, height, max_image_pixels(), kVariable, width * height);
  }
  return std::nullopt;
}

int most_jpeg_scans(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t kLeast = 16, kMost = 500, kScannedPixels = std::int64_t{1} << 30;
  return static_cast<int>(std::clamp(kScannedPixels / std::max<std::int64_t>(width * height, 1), kLeast, kMost));
}

}  // namespace chexbench::image
