// A JPEG file taken apart: its markers, no pixels. Source: ITU-T T.81, annex B.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace chexbench::image {

struct JpegFile {
  int width = 0;
  int height = 0;
  int components = 0;
};

// Whether the bytes begin with JPEG's start of image and another marker.
bool is_jpeg(std::span<const std::byte> bytes);

// Walks from marker to marker to the end of the image; bytes behind it are ignored. `name` is for messages.
// @throws DataError (name, offset, reason): no JPEG, truncated, no frame or scan, or more than kMaxImageSide pixels a
// side
JpegFile parse_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace chexbench::image
