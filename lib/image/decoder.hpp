// Decodes the bytes of an image file of any format to 8-bit gray or colors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "image/decoded_image.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::image {

// Decodes images to 8 bits a channel. To gray, colors are converted as OpenCV's IMREAD_GRAYSCALE does. To rgb, they are
// those of IMREAD_COLOR, in the order red, green, blue, and an image whose file is gray may have one channel; alpha is
// dropped in both. The 16-bit pixels of a PNG are scaled (decoded_image.hpp), while OpenCV drops their low bytes. Not
// thread-safe, because it keeps buffers between calls: use one per thread.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Decodes one file, which messages call `name`. The result is valid until the next call.
  // Frees memory if the image needs far less than an earlier one did.
  // @throws DataError if the file is empty or damaged, asks for too much (decoded_image.hpp), or if its format needs
  // OpenCV and that is missing or cannot read it; the message gives the offset in the file if it is known
  // @throws InterruptedError if a signal comes while a JPEG is decoded
  virtual DecodedImage decode(std::span<const std::byte> bytes, const std::string& name) = 0;
};

// Returns a decoder of this kind to `color`, which is gray or rgb:
// - fast decodes PNGs of 8 bits (gray or RGB, with or without alpha, not interlaced) or 16 (gray) up to 64 MiB by its
//   own code and JPEGs by libjpeg-turbo, and leaves everything else to OpenCV. Only its JPEGs use `least`
//   (jpeg_turbo.hpp).
// - opencv leaves every image to OpenCV.
// Both read DICOM files by DCMTK (dicom/dicom_decoder.hpp).
// Both give the pixels of cv::imdecode of the whole file (with IMREAD_ANYDEPTH for 16 bits, then scaled), and check the
// structure of PNGs and JPEGs themselves. OpenCV is loaded at the first image that needs it.
// @throws DataError if libjpeg-turbo does not start
// @throws SpecError if CHEXBENCH_ISA is an unknown word (fast only), or as max_image_pixels()
std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind, const LeastSize& least = {},
                                      spec::Color color = spec::Color::gray);

}  // namespace chexbench::image
