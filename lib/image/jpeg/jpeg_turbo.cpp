// libjpeg reports errors by a jump, so every function that calls it begins with setjmp and has no object with a
// destructor.
#include "image/jpeg/jpeg_turbo.hpp"

#include <cstdio>  // jpeglib.h needs it and does not include it

#include <fmt/format.h>
#include <jpeglib.h>

#include <jerror.h>  // needs jpeglib.h before it

#include <array>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::image {
namespace {

struct JpegErrors {
  jpeg_error_mgr manager;  // first, so that libjpeg's pointer to it also points to this struct
  std::jmp_buf escape;
  std::array<char, JMSG_LENGTH_MAX> text;
};

// The error_exit of `manager`: writes libjpeg's message to `text` and jumps to `escape`.
[[noreturn]] void leave_libjpeg(j_common_ptr info) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  info->err->format_message(info, errors->text.data());
  std::longjmp(errors->escape, 1);
}

// Returns true for warnings that many complete files cause: unusual headers, and stray bytes.
bool is_harmless(int warning) {
  return warning == JWRN_EXTRANEOUS_DATA || warning == JWRN_JFIF_MAJOR || warning == JWRN_ADOBE_XFORM ||
         warning == JWRN_BOGUS_ICC;
}

// A level of -1 is a warning, others are traces.
void heed(j_common_ptr info, int level) {
  if (level < 0 && !is_harmless(info->err->msg_code)) leave_libjpeg(info);
}

struct Progress {
  jpeg_progress_mgr manager;  // first, as in JpegErrors
  int most_scans;
};

// Ends the decoding with our own reason.
[[noreturn]] void leave_with(j_common_ptr info, const char* reason) {
  auto* const errors = reinterpret_cast<JpegErrors*>(info->err);
  std::snprintf(errors->text.data(), errors->text.size(), "%s", reason);
  std::longjmp(errors->escape, 1);
}

// libjpeg calls this for each row of blocks of each scan: a file of many scans is read for seconds before its first
// row.
void watch(j_common_ptr info) {
  if (interrupt_requested()) leave_with(info, "stopped by a signal");
  const auto* const progress = reinterpret_cast<const Progress*>(info->progress);
  const auto* const decompress = reinterpret_cast<const jpeg_decompress_struct*>(info);
  if (decompress->input_scan_number > progress->most_scans)
    leave_with(info, "it has more scans than its markers announce");
}

class TurboDecoder final : public JpegDecoder {
 public:
  explicit TurboDecoder(spec::Color color) : color_(color) {
    info_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = leave_libjpeg;
    errors_.manager.emit_message = heed;
    progress_.manager.progress_monitor = watch;
  }
  TurboDecoder(const TurboDecoder&) = delete;
  TurboDecoder& operator=(const TurboDecoder&) = delete;

  DecodedImage decode(std::span<const std::byte> bytes, const JpegFile& file, const LeastSize& least) override {
    const Destroyer destroyer{info_};
    if (!start(bytes, file, jpeg_scale_denominator(file, least))) fail();
    const int channels = info_.output_components;
    const std::size_t stride = std::size_t{info_.output_width} * static_cast<std::size_t>(channels);
    auto* const pixels = reinterpret_cast<std::uint8_t*>(pixels_.reserve(stride * info_.output_height));
    const DecodedImage image{pixels, static_cast<int>(info_.output_width), static_cast<int>(info_.output_height),
                             stride, channels};
    if (!read_rows(pixels, stride)) fail();
    return image;
  }

 private:
  // libjpeg keeps the previous image's tables and would decode an image that has none with them, so each image gets a
  // new decompressor.
  struct Destroyer {
    jpeg_decompress_struct& info;
    ~Destroyer() { jpeg_destroy_decompress(&info); }
  };

  [[noreturn]] void fail() const {
    throw_if_interrupted();
    throw DataError(fmt::format("libjpeg: {}", errors_.text.data()));
  }

  // Allocates memory for the whole image if the file has several scans.
  bool start(std::span<const std::byte> bytes, const JpegFile& file, int denominator) {
    if (setjmp(errors_.escape) != 0) return false;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_.manager;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info_, TRUE);
    const bool is_expected = info_.image_width == static_cast<unsigned>(file.width) &&
                             info_.image_height == static_cast<unsigned>(file.height) &&
                             info_.num_components == file.components;
    if (!is_expected) leave_with(reinterpret_cast<j_common_ptr>(&info_), "its header is not the one that was checked");
    progress_.most_scans = file.scans;
    info_.out_color_space = color_ == spec::Color::rgb && file.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(denominator);
    jpeg_start_decompress(&info_);
    return true;
  }

  bool read_rows(std::uint8_t* pixels, std::size_t stride) {
    if (setjmp(errors_.escape) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = pixels + info_.output_scanline * stride;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  const spec::Color color_;
  jpeg_decompress_struct info_{};
  JpegErrors errors_{};
  Progress progress_{};
  storage::ByteBuffer pixels_;
};

}  // namespace

std::unique_ptr<JpegDecoder> make_jpeg_decoder(spec::Color color) { return std::make_unique<TurboDecoder>(color); }

namespace {

// libjpeg's memory for the file.
struct Encoded {
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
};

// Returns whether the image was encoded; if not, `errors` has the reason.
bool compress(const std::uint8_t* rgb, int width, int height, int quality, JpegErrors& errors, Encoded& encoded) {
  jpeg_compress_struct info{};
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = leave_libjpeg;
  if (setjmp(errors.escape) != 0) {
    jpeg_destroy_compress(&info);
    return false;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &encoded.bytes, &encoded.size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    // libjpeg only reads the row, but its interface takes no pointer to const.
    auto* row = const_cast<JSAMPLE*>(rgb + std::size_t{info.next_scanline} * info.image_width * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  return true;
}

}  // namespace

std::vector<std::byte> encode_jpeg(std::span<const std::uint8_t> rgb, int width, int height, int quality) {
  JpegErrors errors{};
  Encoded encoded;
  const bool done = compress(rgb.data(), width, height, quality, errors, encoded);
  std::vector<std::byte> file(done ? encoded.size : 0);
  if (done) std::memcpy(file.data(), encoded.bytes, encoded.size);
  std::free(encoded.bytes);
  if (!done) throw DataError(errors.text.data());
  return file;
}

}  // namespace chexbench::image
