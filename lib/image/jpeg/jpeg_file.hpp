// Checks the structure of a JPEG file and reads its size, without decoding pixels. Source: ITU-T T.81, annex B.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace chexbench::image {

// The contents of a JPEG's markers.
struct JpegFile {
  int width = 0;  // in pixels
  int height = 0;
  int components = 0;  // 1 gray, 3 color, 4 CMYK
  int scans = 0;       // of the whole file
};

// Returns true if the bytes begin with JPEG's start of image and another marker.
bool is_jpeg(std::span<const std::byte> bytes);

// Follows the markers to the end of the image as libjpeg does, so that both see the same frames and scans, and ignores
// the bytes after it. `name` is the file's name for messages.
// @throws DataError if the bytes are not a JPEG or are truncated, have a marker that libjpeg does not know, no frame,
// two, or no scan, if refuse_size() refuses the size, or if there are more scans than most_jpeg_scans(); the message
// gives the name, the offset and the reason
// @throws SpecError as max_image_pixels()
JpegFile parse_jpeg(std::span<const std::byte> bytes, const std::string& name);

}  // namespace chexbench::image
