// Checks the structure of a JPEG file and reads its size, without decoding pixels. Source: ITU-T T.81, annex B.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace chexbench::image {

// What the frame header of a JPEG says.
struct JpegFile {
  int width = 0;  // in pixels
  int height = 0;
  int components = 0;  // 1 gray, 3 color, 4 CMYK
};

// Returns true if the bytes begin with JPEG's start of image and another marker.
bool is_jpeg(std::span<const std::byte> bytes);

// Follows the markers to the end of the image, and ignores the bytes after it. `name` is the file's name for messages.
// @throws DataError if the bytes are not a JPEG or are truncated, have no frame or no scan, or if a side has no pixels
// or more than kMaxImageSide; the message has the name, the offset and the reason
JpegFile parse_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace chexbench::image
