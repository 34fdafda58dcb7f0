// Limits on image files: checked against the file's header, before memory is allocated or time is spent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "image/decoded_image.hpp"

namespace chexbench::image {

// The pixels that an image may have unless CHEXBENCH_MAX_IMAGE_PIXELS says otherwise: 8192 x 8192.
inline constexpr std::int64_t kDefaultMaxImagePixels = std::int64_t{64} << 20;

// Returns the most pixels that an image may have: the environment variable CHEXBENCH_MAX_IMAGE_PIXELS, which is read
// once, or the default. Thread-safe.
// @throws SpecError if the variable is not a number from 1 to the square of kMaxImageSide
std::int64_t max_image_pixels();

// Returns why an image of this size is refused and how to fix that, or std::nullopt if it is accepted. Thread-safe.
// @throws SpecError as max_image_pixels()
std::optional<std::string> refuse_size(std::int64_t width, std::int64_t height);

// Returns the most scans that a JPEG of this size may have. A scan of 100 bytes can cost as much as all pixels, so
// large images may have few: 2^30 pixels in all scans together, but at least 16 scans (libjpeg's own script has 10) and
// at most 500 (the limit of libjpeg-turbo's TJFLAG_LIMITSCANS). Thread-safe.
int most_jpeg_scans(std::int64_t width, std::int64_t height);

}  // namespace chexbench::image
