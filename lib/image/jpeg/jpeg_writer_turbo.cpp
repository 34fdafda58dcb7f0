// libjpeg reports errors by a jump, so compress() has no object with a destructor.
#include <cstdlib>
#include <cstring>

#include "core/errors.hpp"
#include "image/jpeg/jpeg_errors.hpp"
#include "image/jpeg/jpeg_writer.hpp"

namespace chexbench::image {
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
