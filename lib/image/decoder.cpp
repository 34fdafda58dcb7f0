#include "image/decoder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "image/decoded_image.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/jpeg/jpeg_turbo.hpp"
#include "image/opencv_decoder.hpp"
#include "image/png/png_decoder.hpp"
#include "image/png/png_file.hpp"

namespace chexbench::image {
namespace {

// One class for both kinds, since they differ only in whether the fast path is tried. Both check the structure of a PNG
// or a JPEG, because OpenCV accepts truncated files as whole ones.
class CheckingDecoder final : public Decoder {
 public:
  CheckingDecoder(spec::DecoderKind kind, const LeastSize& least, spec::Color color)
      : kind_(kind), least_(least), color_(color) {
    start();
  }

  DecodedImage decode(std::span<const std::byte> bytes, const std::string& name) override {
    if (bytes.empty()) throw DataError(fmt::format("{}: the file is empty (0 bytes); fetch it again", name));
    if (is_jpeg(bytes)) return decode_jpeg(bytes, name);
    if (is_dicom(bytes)) return decode_dicom(bytes, name);
    if (!is_png(bytes)) {
      return decode_other(bytes, name,
                          is_dicom_name(name) ? "neither DICM at byte 128 nor the header of a DICOM file at byte 0"
                                              : "byte 0: not a PNG, JPEG or DICOM file");
    }
    parse_png(bytes, name, png_);
    give_back(png_.pixels());
    const DecodedImage image = decode_png(name);
    check_size(image, png_.width, png_.height, name);
    return image;
  }

 private:
  void start() {
    if (kind_ != spec::DecoderKind::fast) return;
    fast_.emplace(color_);
    jpeg_ = make_jpeg_decoder(color_);
  }

  // Frees all memory if the next image needs far less than the largest since the last time: one large image must not
  // hold memory for the rest of a run.
  void give_back(std::int64_t pixels) {
    constexpr std::int64_t kKept = std::int64_t{16} << 20;
    if (held_pixels_ > kKept && held_pixels_ / 4 > pixels) {
      other_.reset();
      dicom_.reset();
      joined_ = {};
      start();
      held_pixels_ = 0;
    }
    held_pixels_ = std::max(held_pixels_, pixels);
  }

  static void check_size(const DecodedImage& image, int width, int height, const std::string& name) {
    if (image.width == width && image.height == height) return;
    throw DataError(fmt::format("{}: its header says {}x{} pixels, and OpenCV found {}x{}", name, width, height,
                                image.width, image.height));
  }

  DecodedImage decode_png(const std::string& name) {
    // The fast path keeps all rows of all channels. OpenCV converts them to pixels row by row.
    constexpr std::int64_t kMostFastBytes = std::int64_t{64} << 20;
    const bool is_taken = fast_ && png_.simple && png_.pixels() * png_.pixel_bytes() <= kMostFastBytes;
    if (!is_taken) return decode_other(essentials(), name, describe(png_));
    const auto failure = fast_->decode(png_);
    return failure ? decode_other(essentials(), name, *failure) : fast_->image();
  }

  DecodedImage decode_jpeg(std::span<const std::byte> bytes, const std::string& name) {
    const JpegFile file = parse_jpeg(bytes, name);
    give_back(std::int64_t{file.width} * file.height);
    const bool is_taken = file.components == 1 || file.components == 3;
    if (!jpeg_ || !is_taken) {
      const auto image = decode_other(bytes, name, fmt::format("JPEG of {} components", file.components));
      check_size(image, file.width, file.height, name);
      return image;
    }
    try {
      return jpeg_->decode(bytes, file, least_);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}", name, error.what()));
    }
  }

  DecodedImage decode_dicom(std::span<const std::byte> bytes, const std::string& name) {
    try {
      if (!dicom_) dicom_ = make_dicom_decoder();
      const DecodedImage image = dicom_->decode(bytes);
      held_pixels_ = std::max(held_pixels_, std::int64_t{image.width} * image.height);
      return image;
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: DICOM: {}", name, error.what()));
    }
  }

  static std::string describe(const PngFile& png) {
    return fmt::format("byte {}: PNG of {}x{} pixels, color type {}, {} bits{}", png.image_data_offset, png.width,
                       png.height, png.color_type, png.bit_depth, png.interlaced ? ", interlaced" : "");
  }

  // Returns the file for OpenCV, without the chunks that change no pixels: libpng writes a line to stderr for each
  // unusual one, at every decode, and keeps up to 8 MB of each text.
  std::span<const std::byte> essentials() {
    std::size_t bytes = 0;
    for (const auto& piece : png_.essentials) bytes += piece.size();
    std::byte* const joined = joined_.reserve(bytes);
    std::byte* end = joined;
    for (const auto& piece : png_.essentials) end = std::copy(piece.begin(), piece.end(), end);
    return {joined, bytes};
  }

  // Lets OpenCV decode or refuse files that the fast path does not take. `what` describes the file for messages.
  DecodedImage decode_other(std::span<const std::byte> bytes, const std::string& name, const std::string& what) {
    DecodedImage image;
    try {
      if (!other_) other_ = make_opencv_decoder(color_);
      image = other_->decode(bytes);
    } catch (const DataError& error) {
      throw DataError(fmt::format("{}: {}; {}", name, what, error.what()));
    }
    // The user's limits for OpenCV may be higher than ours.
    if (const auto refusal = refuse_size(image.width, image.height)) {
      throw DataError(fmt::format("{}: {}", name, *refusal));
    }
    held_pixels_ = std::max(held_pixels_, std::int64_t{image.width} * image.height);
    return image;
  }

  const spec::DecoderKind kind_;
  const LeastSize least_;
  const spec::Color color_;
  std::optional<PngDecoder> fast_;
  std::unique_ptr<JpegDecoder> jpeg_;
  std::unique_ptr<DicomDecoder> dicom_;
  std::unique_ptr<OpencvDecoder> other_;
  PngFile png_;
  storage::ByteBuffer joined_;
  std::int64_t held_pixels_ = 0;  // of the largest image since all memory was freed
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(spec::DecoderKind kind, const LeastSize& least, spec::Color color) {
  return std::make_unique<CheckingDecoder>(kind, least, color);
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
