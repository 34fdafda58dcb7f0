// JPEGs by libjpeg-turbo: the fast path of decoding, at a fraction of their size if less is needed, and the encoder of
// synthetic data sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "image/decoded_image.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::image {

// Decodes JPEGs of one or three components. Not thread-safe, because it keeps the memory of the pixels between calls:
// use one per thread.
class JpegDecoder {
 public:
  virtual ~JpegDecoder() = default;
  // Decodes the image at the smallest of the scales 1/8, 1/4, 1/2 and 1 that leaves at least `least` in both
  // directions. If `least` is empty, decodes all pixels, which then equal OpenCV's. `file` comes from parse_jpeg(). The
  // memory of the result belongs to this object and is valid until the next call.
  // @throws DataError if libjpeg cannot decode the file, warns of lost image data, or finds another size or more scans
  // than `file` has; the message has only the reason
  // @throws InterruptedError after a signal
  virtual DecodedImage decode(std::span<const std::byte> bytes, const JpegFile& file, const LeastSize& least) = 0;
};

// Returns a decoder to gray or rgb, which gives images of one component in gray as well. Returns null if this build has
// no libjpeg-turbo.
std::unique_ptr<JpegDecoder> make_jpeg_decoder(spec::Color color = spec::Color::gray);

// Returns the denominator of the scale that decode() uses: 8, 4, 2 or 1.
int jpeg_scale_denominator(const JpegFile& file, const LeastSize& least);

// Encodes packed 8-bit RGB pixels as a baseline JPEG with halved chroma (4:2:0), like those of cameras and ImageNet.
// `quality` is libjpeg's, 1 to 100. Thread-safe.
// @throws DataError if this build has no libjpeg-turbo, or libjpeg refuses the image; the message has only the reason
std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, int width, int height, int quality);

}  // namespace chexbench::image
