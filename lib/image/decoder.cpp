#include "image/decoder.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/jpeg/jpeg_gray.hpp"
#include "image/opencv_decoder.hpp"
#include "image/png/png_file.hpp"
#include "image/png/png_gray.hpp"

namespace chexbench::image {
namespace {

// One class for both kinds, since they differ only in whether the fast path is tried. Both check the structure of a PNG
// or a JPEG, because OpenCV accepts truncated files as whole ones.
class CheckingDecoder final : public Decoder {
 public:
  CheckingDecoder(spec::DecoderKind kind, const LeastSize& least) : least_(least) {
    if (kind != spec::DecoderKind::fast) return;
    fast_.emplace();
    jpeg_ = make_jpeg_gray_decoder();
  }

  GrayImage decode(std::span<const std::byte> bytes, const std::string& name) override {
    if (bytes.empty()) throw DataError(fmt::format("{}: the file is empty (0 bytes); fetch it again", name));
    if (is_jpeg(bytes)) return decode_jpeg(bytes, name);
    if (!is_png(bytes)) return decode_other(bytes, name, "byte 0: not a PNG or JPEG file");
    parse_png(bytes, name, png_);
    if (!fast_ || !png_.simple) return decode_other(essentials(), name, describe(png_));
    const auto failure = fast_->decode(png_);
    return failure ? decode_other(essentials(), name, *failure) : fast_->image();
  }

 private:
  GrayImage decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
    const JpegFile file = parse_jpeg(bytes, name);
    const bool is_taken = file.components == 1 || file.components == 3;
    if (!jpeg_ || !is_taken) return decode_other(bytes, name, fmt::format("JPEG of {} components", file.components));
    try {
      return jpeg_->decode(bytes, file, least_);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}", name, error.what()));
    }
  }

  static std::string describe(const PngFile& png) {
    return fmt::format("byte {}: PNG of color type {}, {} bits{}", png.image_data_offset, png.color_type, png.bit_depth,
                       png.interlaced ? ", interlaced" : "");
  }

  // Returns the file without its ancillary chunks, for OpenCV: libpng writes a line to stderr for each odd one, at
  // every decode, and NIH's RGBA files have a color profile for gray images.
  std::span<const std::byte> essentials() {
    std::size_t bytes = 0;
    for (const auto& piece : png_.essentials) bytes += piece.size();
    std::byte* const joined = joined_.reserve(bytes);
    std::byte* end = joined;
    for (const auto& piece : png_.essentials) end = std::copy(piece.begin(), piece.end(), end);
    return {joined, bytes};
  }

  // Lets OpenCV decode or refuse what the fast path does not take. `what` describes the file for messages.
  GrayImage decode_other(std::span<const std::byte> bytes, const std::string& name, const std::string& what) {
    GrayImage image;
    try {
      if (!other_) other_ = make_opencv_decoder();
      image = other_->decode(bytes);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}; {}", name, what, error.what()));
    }
    if (image.width > kMaxImageSide || image.height > kMaxImageSide) {
      throw DataError(fmt::format("{}: image of {}x{} pixels: more than {} a side are refused", name, image.width,
                                  image.height, kMaxImageSide));
    }
    return image;
  }

  const LeastSize least_;
  std::optional<PngGrayDecoder> fast_;
  std::unique_ptr<JpegGrayDecoder> jpeg_;
  std::unique_ptr<OpencvDecoder> other_;
  PngFile png_;
  storage::ByteBuffer joined_;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind, const LeastSize& least) {
  return std::make_unique<CheckingDecoder>(kind, least);
}

int jpeg_scale_denominator(const JpegFile& file, const LeastSize& least) {
  if (least.empty()) return 1;
  for (const int denominator : {8, 4, 2}) {
    const auto scaled = [denominator](int side) { return (side + denominator - 1) / denominator; };
    if (scaled(file.width) >= least.width && scaled(file.height) >= least.height) return denominator;
  }
  return 1;
}

}  // namespace chexbench::image
