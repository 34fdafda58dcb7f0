// Writes JPEG files, for synthetic data sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chexbench::image {

// Encodes packed 8-bit RGB pixels as a baseline JPEG with halved chroma (4:2:0), like those of cameras and ImageNet.
// `quality` is libjpeg's, 1 to 100. Thread-safe.
// @throws DataError if this build has no libjpeg-turbo, or libjpeg refuses the image; the message has only the reason
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, int width, int height, int quality);

}  // namespace chexbench::image
