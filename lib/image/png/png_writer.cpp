#include "image/png/png_writer.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <string_view>

namespace chexbench::image {
namespace {

constexpr std::size_t kIdatBytes = 8192;
constexpr int kSub = 1, kUp = 2, kAverage = 3, kPaeth = 4;  // filter types of the PNG specification, 9.2

void put_big_endian(std::vector<std::byte>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift & 0xff));
}

void put_chunk(std::vector<std::byte>& out, std::string_view type, std::span<const std::uint8_t> data) {
  put_big_endian(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  for (const char c : type) out.push_back(static_cast<std::byte>(c));
  const std::span<const std::byte> bytes = std::as_bytes(data);
  out.insert(out.end(), bytes.begin(), bytes.end());
  const uLong crc =
      ::crc32(0, reinterpret_cast<const Bytef*>(out.data() + begin), static_cast<uInt>(out.size() - begin));
  put_big_endian(out, static_cast<std::uint32_t>(crc));
}

int paeth(int left, int above, int corner) {
  const int to_left = std::abs(above - corner);
  const int to_above = std::abs(left - corner);
  const int to_corner = std::abs(left + above - 2 * corner);
  const int nearer = to_left <= to_above ? left : above;
  return std::min(to_left, to_above) <= to_corner ? nearer : corner;
}

// A row and the one above it. `channels` zero bytes precede both, so that every pixel has a left neighbour.
struct RowPair {
  const std::uint8_t* row;
  const std::uint8_t* above;
  std::size_t bytes;
  int channels;
};

// Writes the differences of one filter, and returns the sum of their absolute values, the criterion for choosing a
// filter that the PNG specification (12.8) recommends.
template <typename Predict>
std::uint64_t apply(const RowPair& pair, std::uint8_t* out, Predict predict) {
  std::uint64_t sum = 0;
  for (std::size_t x = 0; x < pair.bytes; ++x) {
    const int left = pair.row[x], above = pair.above[x + pair.channels], corner = pair.above[x];
    const int difference = pair.row[x + pair.channels] - predict(left, above, corner);
    out[x] = static_cast<std::uint8_t>(difference);
    sum += static_cast<std::uint64_t>(std::abs(static_cast<int>(static_cast<std::int8_t>(out[x]))));
  }
  return sum;
}

std::uint64_t apply_filter(int filter, const RowPair& pair, std::uint8_t* out) {
  switch (filter) {
    case kSub:
      return apply(pair, out, [](int left, int, int) { return left; });
    case kUp:
      return apply(pair, out, [](int, int above, int) { return above; });
    case kAverage:
      return apply(pair, out, [](int left, int above, int) { return (left + above) / 2; });
    default:
      return apply(pair, out, paeth);
  }
}

}  // namespace

void PngWriter::filter_rows(std::span<const std::uint8_t> pixels, int rows, std::size_t row_bytes, int channels,
                            PngStyle style) {
  filtered_.resize((row_bytes + 1) * rows);
  candidate_.resize(row_bytes);
  std::vector<std::uint8_t> row(row_bytes + channels), above(row_bytes + channels);
  for (int y = 0; y < rows; ++y) {
    std::copy_n(pixels.data() + row_bytes * y, row_bytes, row.data() + channels);
    const RowPair pair{row.data(), above.data(), row_bytes, channels};
    std::uint8_t* const out = filtered_.data() + (row_bytes + 1) * y;
    out[0] = kSub;
    std::uint64_t least = apply_filter(kSub, pair, out + 1);
    for (int filter = kUp; filter <= kPaeth && y > 0 && style != PngStyle::resaved; ++filter) {
      const std::uint64_t sum = apply_filter(filter, pair, candidate_.data());
      if (sum >= least) continue;
      least = sum;
      out[0] = static_cast<std::uint8_t>(filter);
      std::copy(candidate_.begin(), candidate_.end(), out + 1);
    }
    std::swap(row, above);
  }
}

void PngWriter::compress(PngStyle style) {
  // libpng uses Z_FILTERED for filtered rows, and OpenCV uses Z_RLE at level 1.
  const bool resaved = style == PngStyle::resaved;
  z_stream stream{};
  if (::deflateInit2(&stream, resaved ? 1 : 6, Z_DEFLATED, 15, 8, resaved ? Z_RLE : Z_FILTERED) != Z_OK) {
    throw std::bad_alloc();
  }
  // Level 6 follows chains of 128 candidates, which in noise costs six times as much as the rest and finds nothing,
  // because Z_FILTERED drops matches of up to 5 bytes anyway. The header still says level 6.
  if (style == PngStyle::published) ::deflateTune(&stream, 4, 4, 16, 4);
  compressed_.resize(::deflateBound(&stream, filtered_.size()));
  stream.next_in = filtered_.data();
  stream.avail_in = static_cast<uInt>(filtered_.size());
  stream.next_out = compressed_.data();
  stream.avail_out = static_cast<uInt>(compressed_.size());
  ::deflate(&stream, Z_FINISH);  // completes in one call, because the buffer has deflateBound() bytes
  compressed_.resize(stream.total_out);
  ::deflateEnd(&stream);
}

std::span<const std::byte> PngWriter::encode(std::span<const std::uint8_t> gray, int width, int height,
                                             PngStyle style) {
  if (style != PngStyle::rgba) return encode_pixels(gray, {width, height, 1}, style);
  rgba_.resize(gray.size() * 4);
  for (std::size_t i = 0; i < gray.size(); ++i) {
    rgba_[4 * i] = rgba_[4 * i + 1] = rgba_[4 * i + 2] = gray[i];
    rgba_[4 * i + 3] = 255;
  }
  return encode_pixels(rgba_, {width, height, 4}, style);
}

std::span<const std::byte> PngWriter::encode_rgb(std::span<const std::uint8_t> rgb, int size) {
  return encode_pixels(rgb, {size, size, 3}, PngStyle::published);
}

std::span<const std::byte> PngWriter::encode_pixels(std::span<const std::uint8_t> pixels, const Shape& shape,
                                                    PngStyle style) {
  const auto& [width, height, channels] = shape;
  filter_rows(pixels, height, static_cast<std::size_t>(width) * channels, channels, style);
  compress(style);

  file_.clear();
  for (const char c : std::string_view("\x89PNG\r\n\x1a\n")) file_.push_back(static_cast<std::byte>(c));
  const auto byte = [](int side, int shift) { return static_cast<std::uint8_t>(side >> shift & 0xff); };
  const auto color = static_cast<std::uint8_t>(channels == 4 ? 6 : channels == 3 ? 2 : 0);
  put_chunk(
      file_, "IHDR",
      std::array<std::uint8_t, 13>{byte(width, 24), byte(width, 16), byte(width, 8), byte(width, 0), byte(height, 24),
                                   byte(height, 16), byte(height, 8), byte(height, 0), 8, color, 0, 0, 0});
  // The time is constant, because the real time would make equal data sets differ.
  if (style == PngStyle::published) put_chunk(file_, "tIME", std::array<std::uint8_t, 7>{0x07, 0xe1, 9, 1, 12, 0, 0});
  for (std::size_t begin = 0; begin < compressed_.size(); begin += kIdatBytes) {
    put_chunk(file_, "IDAT", std::span(compressed_).subspan(begin, std::min(kIdatBytes, compressed_.size() - begin)));
  }
  put_chunk(file_, "IEND", {});
  return file_;
}

}  // namespace chexbench::image
