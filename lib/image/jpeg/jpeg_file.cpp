#include "image/jpeg/jpeg_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

#include "core/errors.hpp"
#include "image/decoded_image.hpp"

namespace chexbench::image {
namespace {

constexpr unsigned kTemporary = 0x01, kStartOfImage = 0xd8, kEndOfImage = 0xd9, kStartOfScan = 0xda;

// Returns true for a start of frame of any kind: 0xc0 to 0xcf without DHT, JPG and DAC, which are in that range too.
bool is_frame(unsigned marker) {
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

bool is_restart(unsigned marker) { return marker >= 0xd0 && marker <= 0xd7; }

// Returns true for the markers inside a scan: stuffed zeros and restarts.
bool belongs_to_scan(unsigned marker) { return marker == 0 || is_restart(marker); }

// Returns true for markers without a segment.
bool stands_alone(unsigned marker) { return marker == kTemporary || is_restart(marker); }

// Returns true for the markers of segments that libjpeg reads or skips: frames and tables, a scan, tables again (DQT to
// DRI), applications' own, and comments. It ends with an error at all others.
bool has_known_segment(unsigned marker) {
  return (marker >= 0xc0 && marker <= 0xcf) || (marker >= kStartOfScan && marker <= 0xdd) ||
         (marker >= 0xe0 && marker <= 0xef) || marker == 0xfe;
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  JpegFile run() {
    if (!is_jpeg(bytes_)) fail(0, "not a JPEG file");
    at_ = 2;
    while (true) {
      const std::size_t begin = at_;
      const unsigned marker = next_marker();
      if (marker == kEndOfImage) break;
      if (stands_alone(marker)) continue;
      if (!has_known_segment(marker)) fail(begin, fmt::format("unknown marker {:#04x}", marker));
      const std::span<const std::byte> segment = next_segment(begin);
      if (is_frame(marker)) read_frame(segment, begin);
      if (marker == kStartOfScan) skip_scan(begin);
    }
    if (file_.width == 0) fail(at_, "it has no frame: no size is known");
    if (file_.scans == 0) fail(at_, "it has no image data");
    return file_;
  }

 private:
  [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
    throw DataError(fmt::format("{}: byte {}: JPEG: {}", name_, offset, reason));
  }
  [[noreturn]] void fail_truncated() const {
    fail(bytes_.size(), "the file ends before its image does (truncated); fetch it again");
  }
  unsigned at(std::size_t offset) const {
    if (offset >= bytes_.size()) fail_truncated();
    return std::to_integer<unsigned>(bytes_[offset]);
  }

  // Returns the code after 0xff; any number of 0xff may precede it.
  unsigned next_marker() {
    if (at(at_) != 0xff) fail(at_, fmt::format("expected a marker, found {:#04x}", at(at_)));
    while (at(at_) == 0xff) ++at_;
    return at(at_++);
  }

  std::span<const std::byte> next_segment(std::size_t marker_offset) {
    const std::size_t length = at(at_) << 8 | at(at_ + 1);
    if (length < 2) fail(marker_offset, "a segment is shorter than its length field");
    if (length > bytes_.size() - at_) fail_truncated();
    const auto segment = bytes_.subspan(at_ + 2, length - 2);
    at_ += length;
    return segment;
  }

  void read_frame(std::span<const std::byte> segment, std::size_t offset) {
    if (segment.size() < 6) fail(offset, "its frame is too short");
    if (file_.width != 0) fail(offset, "it has two frames");
    const auto number = [&](std::size_t i) { return std::to_integer<int>(segment[i]); };
    file_ = {number(3) << 8 | number(4), number(1) << 8 | number(2), number(5)};
    if (const auto refusal = refuse_size(file_.width, file_.height)) fail(offset, *refusal);
    if (file_.components < 1 || file_.components > 4) {
      fail(offset, fmt::format("{} components; 1 (gray), 3 (color) and 4 (CMYK) are known", file_.components));
    }
    // libjpeg keeps all components of a file of several scans, so a fourth one counts like pixels.
    const std::int64_t counted = std::int64_t{file_.width} * file_.height * file_.components / 3;
    if (counted > max_image_pixels()) {
      fail(offset,
           fmt::format("image of {}x{} pixels and {} components: more than {} pixels of 3 are refused; save it in "
                       "gray or color, or set CHEXBENCH_MAX_IMAGE_PIXELS={} if it may take the memory",
                       file_.width, file_.height, file_.components, max_image_pixels(), counted));
    }
  }

  // Moves to the next marker that ends the scan whose own marker is at `offset`.
  void skip_scan(std::size_t offset) {
    if (file_.width == 0) fail(offset, "it has a scan before its frame");
    const int most = most_jpeg_scans(file_.width, file_.height);
    if (++file_.scans > most) {
      fail(offset,
           fmt::format("more than {} scans are refused for {}x{} pixels; save the image again, by jpegtran or as "
                       "a baseline JPEG",
                       most, file_.width, file_.height));
    }
    while (true) {
      const void* const found = std::memchr(bytes_.data() + at_, 0xff, bytes_.size() - at_);
      if (found == nullptr) fail_truncated();
      at_ = static_cast<std::size_t>(static_cast<const std::byte*>(found) - bytes_.data());
      std::size_t code = at_;
      while (at(code) == 0xff) ++code;
      if (!belongs_to_scan(at(code))) return;
      at_ = code + 1;
    }
  }

  const std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  JpegFile file_;
};

}  // namespace

bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xff} && bytes[1] == std::byte{kStartOfImage} &&
         bytes[2] == std::byte{0xff};
}

JpegFile parse_jpeg(std::span<const std::byte> bytes, const std::string& name) { return Parser(bytes, name).run(); }

}  // namespace chexbench::image
