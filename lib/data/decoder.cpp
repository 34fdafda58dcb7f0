#include "data/decoder.hpp"

#include <fmt/format.h>

#include "core/errors.hpp"
#include "data/opencv_decoder.hpp"
#include "data/png_file.hpp"
#include "data/png_gray.hpp"

namespace chexbench::data {
namespace {

// One class for both kinds: they differ only in whether the fast path is tried. The structure of a PNG is checked in
// both, because OpenCV takes a truncated file for a whole one.
class CheckingDecoder final : public Decoder {
 public:
  explicit CheckingDecoder(spec::DecoderKind kind) {
    if (kind == spec::DecoderKind::fast) fast_.emplace();
  }

  GrayImage decode(std::span<const std::byte> bytes, const std::string& name) override {
    if (bytes.empty()) throw DataError(fmt::format("{}: the file is empty (0 bytes); fetch it again", name));
    if (!is_png(bytes)) return decode_other(bytes, name, "byte 0: not a PNG file");
    parse_png(bytes, name, png_);
    if (!fast_ || !png_.simple) return decode_other(essentials(), name, describe(png_));
    const auto failure = fast_->decode(png_);
    return failure ? decode_other(essentials(), name, *failure) : fast_->image();
  }

 private:
  static std::string describe(const PngFile& png) {
    return fmt::format("byte {}: PNG of color type {}, {} bits{}", png.image_data_offset, png.color_type, png.bit_depth,
                       png.interlaced ? ", interlaced" : "");
  }

  // libpng writes a line to stderr for each odd ancillary chunk, at every decode of the file; NIH's RGBA files carry a
  // color profile for gray. So OpenCV gets the file without them.
  std::span<const std::byte> essentials() {
    std::size_t bytes = 0;
    for (const auto& piece : png_.essentials) bytes += piece.size();
    std::byte* const joined = joined_.reserve(bytes);
    std::byte* end = joined;
    for (const auto& piece : png_.essentials) end = std::copy(piece.begin(), piece.end(), end);
    return {joined, bytes};
  }

  // OpenCV decides over everything that the fast path does not take. `what` says what the file is, for messages.
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

  std::optional<PngGrayDecoder> fast_;
  std::unique_ptr<OpencvDecoder> other_;
  PngFile png_;
  ByteBuffer joined_;
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind) { return std::make_unique<CheckingDecoder>(kind); }

}  // namespace chexbench::data
