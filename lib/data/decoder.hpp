// From the bytes of an image file to the slot of a batch: decode, resize, normalize.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "spec/experiment.hpp"

namespace chexbench::data {

// An 8-bit gray image in rows of `stride` bytes. Memory belongs to the decoder that made it, until its next decode.
struct GrayImage {
  const std::uint8_t* pixels = nullptr;
  int width = 0;
  int height = 0;
  std::size_t stride = 0;
};

// Images larger than this on a side are refused by their header, before memory is taken for their pixels; where the
// user set OpenCV's OPENCV_IO_MAX_IMAGE_WIDTH, _HEIGHT or _PIXELS, other files than PNGs are decoded within those
// first.
inline constexpr int kMaxImageSide = 16384;

// Decodes images to 8-bit gray (RGB(A) and 16-bit are converted as OpenCV's IMREAD_GRAYSCALE does). Keeps buffers
// between calls, so: one decoder a thread.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // `name` is for messages. The result is valid until the next call.
  // @throws DataError naming the file, the offset where that is known, and the reason
  virtual GrayImage decode(std::span<const std::byte> bytes, const std::string& name) = 0;
};

// The size below which an image must not shrink while it is decoded; empty: it is decoded at its own.
struct LeastSize {
  int width = 0;
  int height = 0;

  bool empty() const { return width == 0 || height == 0; }
};

// fast: own path for PNGs of 8 bits (gray or RGB, with or without alpha) that are not interlaced, libjpeg-turbo for
// JPEGs (jpeg_gray.hpp; only these heed `least`), everything else handed to OpenCV, which decides. opencv: OpenCV for
// all. OpenCV is loaded at the first image that needs it. @throws DataError where that is missing.
std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind, const LeastSize& least = {});

// Resizes, scales to [0,1], normalizes and writes one image into a batch slot. Not thread-safe: one a thread.
// f32: value = (resized / 255 - mean[c]) / std[c], ImageNet's mean and std, 3 equal-source channels, HWC.
// u8: round to nearest of the resized gray value, 1 channel.
class Preprocessor {
 public:
  virtual ~Preprocessor() = default;
  // `destination` holds BatchShape::image_bytes() bytes, aligned to 16.
  virtual void run(const GrayImage& image, bool flip, std::byte* destination) = 0;
};

// One a thread (keeps tables and rows for the last image size).
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape);

}  // namespace chexbench::data
