#include "image/png/png_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/errors.hpp"
#include "image/decoded_image.hpp"
#include "image/png/png_inflate.hpp"

namespace chexbench::image {
namespace {

constexpr std::array<unsigned char, 8> kSignature = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kChunkOverhead = 12;  // length, type, CRC
constexpr std::size_t kHeaderBytes = 13;
constexpr std::uint64_t kMaxDeflateRatio = 1032;  // 2 bits become at most 258 bytes (zlib technical details)

std::uint32_t big_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes.first(4)) value = (value << 8) | std::to_integer<std::uint32_t>(byte);
  return value;
}

struct Chunk {
  std::size_t offset = 0;  // of its length field, in the file
  std::string_view type;
  std::span<const std::byte> data;
  std::span<const std::byte> whole;

  bool critical() const { return (type[0] & 0x20) == 0; }
};

// Reads the chunks of one file in order.
class ChunkReader {
 public:
  ChunkReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  [[noreturn]] void fail(std::size_t offset, const std::string& reason) const {
    throw DataError(fmt::format("{}: byte {}: {}", name_, offset, reason));
  }

  Chunk next() {
    const std::span<const std::byte> rest = bytes_.subspan(offset_);
    if (rest.size() < kChunkOverhead) {
      fail(offset_,
           fmt::format("truncated PNG: the file ends ({} bytes) before its IEND chunk; fetch it again", bytes_.size()));
    }
    const std::size_t length = big_endian(rest);
    const std::string_view type(reinterpret_cast<const char*>(rest.data()) + 4, 4);
    if (!std::all_of(type.begin(), type.end(), [](unsigned char c) { return std::isalpha(c) != 0; })) {
      fail(offset_, "damaged PNG: no chunk begins here; fetch it again");
    }
    if (length > rest.size() - kChunkOverhead) {
      fail(offset_, fmt::format("truncated PNG: chunk {} needs {} bytes, the file has {} more; fetch it again", type,
                                length, rest.size() - kChunkOverhead));
    }
    if (png_crc32(rest.subspan(4, length + 4)) != big_endian(rest.subspan(8 + length))) {
      fail(offset_, fmt::format("wrong CRC in PNG chunk {}: its bytes are damaged; fetch it again", type));
    }
    const Chunk chunk{offset_, type, rest.subspan(8, length), rest.first(length + kChunkOverhead)};
    offset_ += length + kChunkOverhead;
    return chunk;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t offset_ = kSignature.size();
};

void read_header(const Chunk& chunk, const ChunkReader& reader, PngFile& png) {
  if (chunk.type != "IHDR" || chunk.data.size() != kHeaderBytes) {
    reader.fail(chunk.offset, "damaged PNG: it does not begin with an IHDR chunk of 13 bytes");
  }
  const std::uint32_t width = big_endian(chunk.data);
  const std::uint32_t height = big_endian(chunk.data.subspan(4));
  if (const auto refusal = refuse_size(width, height)) reader.fail(chunk.offset, "PNG: " + *refusal);
  png.width = static_cast<int>(width);
  png.height = static_cast<int>(height);
  png.bit_depth = std::to_integer<int>(chunk.data[8]);
  png.color_type = std::to_integer<int>(chunk.data[9]);
  png.interlaced = chunk.data[12] != std::byte{0};
  const bool known_methods = chunk.data[10] == std::byte{0} && chunk.data[11] == std::byte{0};
  const bool known_color = png.color_type == 0 || png.color_type == 2 || png.color_type == 4 || png.color_type == 6;
  const bool known_depth = png.bit_depth == 8 || (png.bit_depth == 16 && !png.has_colors());
  png.simple = known_methods && known_color && known_depth && !png.interlaced;
}

// Collects the chunks that a general decoder needs for the pixels.
class Essentials {
 public:
  explicit Essentials(PngFile& png) : png_(png) {}

  void add(const Chunk& chunk) {
    if (is_left_out(chunk.type)) return;
    if (describes_colors(chunk.type)) {
      if (!png_.has_colors()) return;
      png_.describes_colors = true;
      gray_profile_ = 0;
      if (chunk.type == "iCCP" && is_gray_profile(chunk.data)) gray_profile_ = png_.essentials.size();
    }
    png_.essentials.push_back(chunk.whole);
  }

  // Leaves out a profile for gray images, unless libpng would use a chunk after it if it were missing: libpng writes a
  // line to stderr for the profile, at every decode, and NIH's RGBA files have one.
  void finish() {
    if (gray_profile_ == 0) return;
    png_.essentials.erase(png_.essentials.begin() + static_cast<std::ptrdiff_t>(gray_profile_));
  }

 private:
  PngFile& png_;
  // Where the last chunk that describes colors is, if it is such a profile; 0, where the signature is, if it is not.
  std::size_t gray_profile_ = 0;
};

// Returns the least number of bytes that the image data must inflate to; interlacing only adds to it.
std::uint64_t least_inflated_bytes(const PngFile& png) {
  const auto bits = static_cast<std::uint64_t>(png.width) * static_cast<std::uint64_t>(png.channels() * png.bit_depth);
  return static_cast<std::uint64_t>(png.height) * (bits / 8);
}

// A small file can claim a huge image, so this is checked before memory is allocated for it.
void check_image_data(const PngFile& png, const ChunkReader& reader, std::size_t end) {
  if (png.image_data.empty()) reader.fail(end, "PNG without image data: it has no IDAT chunk");
  std::uint64_t bytes = 0;
  for (const auto& piece : png.image_data) bytes += piece.size();
  if (least_inflated_bytes(png) > bytes * kMaxDeflateRatio) {
    reader.fail(png.image_data_offset,
                fmt::format("PNG of {}x{} pixels with only {} bytes of image data", png.width, png.height, bytes));
  }
}

}  // namespace

int PngFile::channels() const {
  constexpr std::array<int, 7> kChannels = {1, 1, 3, 1, 2, 1, 4};
  return color_type < 7 ? kChannels[static_cast<std::size_t>(color_type)] : 1;
}

bool is_png(std::span<const std::byte> bytes) {
  return bytes.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(), reinterpret_cast<const unsigned char*>(bytes.data()));
}

void parse_png(std::span<const std::byte> bytes, const std::string& name, PngFile& png) {
  ChunkReader reader(bytes, name);
  if (!is_png(bytes)) reader.fail(0, "not a PNG file");
  png.image_data.clear();
  png.describes_colors = false;
  png.essentials.assign({bytes.first(kSignature.size())});
  Chunk chunk = reader.next();
  read_header(chunk, reader, png);
  Essentials essentials(png);
  essentials.add(chunk);
  bool data_ended = false;
  do {
    chunk = reader.next();
    essentials.add(chunk);
    if (chunk.type == "IDAT") {
      if (png.image_data.empty()) png.image_data_offset = chunk.offset + 8;
      if (data_ended) png.simple = false;  // another chunk is between IDAT chunks, which the specification forbids
      png.image_data.push_back(chunk.data);
    } else {
      data_ended = !png.image_data.empty();
      if (chunk.type != "IEND" && (chunk.critical() || changes_pixels(chunk.type))) png.simple = false;
    }
  } while (chunk.type != "IEND");
  essentials.finish();
  check_image_data(png, reader, chunk.offset);
}

namespace {

template <std::size_t kCount>
bool has(const std::array<std::string_view, kCount>& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

bool is_left_out(std::string_view type) {
  static constexpr std::array<std::string_view, 13> kTypes = {"tEXt", "zTXt", "iTXt", "tIME", "pHYs", "oFFs", "sCAL",
                                                              "pCAL", "hIST", "sPLT", "acTL", "fcTL", "fdAT"};
  return has(kTypes, type);
}

bool describes_colors(std::string_view type) {
  static constexpr std::array<std::string_view, 8> kTypes = {"gAMA", "sRGB", "cHRM", "iCCP",
                                                             "sBIT", "cICP", "mDCV", "cLLI"};
  return has(kTypes, type);
}

bool changes_pixels(std::string_view type) { return type == "tRNS" || type == "eXIf"; }

// The data are a name, a zero, the method of compression (0) and a zlib stream (PNG specification, section 11.3.3.3). A
// profile names its color space in bytes 16 to 19 (ICC.1:2022, section 7.2).
bool is_gray_profile(std::span<const std::byte> data) {
  const auto name_end = std::find(data.begin(), data.end(), std::byte{0});
  if (data.end() - name_end < 3 || name_end[1] != std::byte{0}) return false;
  const std::span<const std::byte> stream(name_end + 2, data.end());
  std::array<unsigned char, 20> header{};
  z_stream inflater{};
  if (::inflateInit(&inflater) != Z_OK) return false;
  inflater.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stream.data()));
  inflater.avail_in = static_cast<uInt>(std::min<std::size_t>(stream.size(), 1 << 16));
  inflater.next_out = header.data();
  inflater.avail_out = static_cast<uInt>(header.size());
  ::inflate(&inflater, Z_SYNC_FLUSH);
  const bool is_whole = inflater.avail_out == 0;
  ::inflateEnd(&inflater);
  return is_whole && std::string_view(reinterpret_cast<const char*>(header.data()) + 16, 4) == "GRAY";
}

}  // namespace chexbench::image
