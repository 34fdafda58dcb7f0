// Builds PNG files for tests, with any header, any filter bytes and any damage.
#pragma once

#include <zlib.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chexbench::image::test {

using Bytes = std::vector<std::byte>;

inline void append_big_endian(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

inline void append(Bytes& out, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) out.push_back(std::byte{byte});
}

inline void append_chunk(Bytes& out, std::string_view type, std::span<const std::uint8_t> data) {
  append_big_endian(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = out.size();
  for (const char letter : type) out.push_back(static_cast<std::byte>(letter));
  append(out, data);
  const auto* const checked = reinterpret_cast<const Bytef*>(out.data() + begin);
  append_big_endian(out, static_cast<std::uint32_t>(::crc32_z(0, checked, out.size() - begin)));
}

inline std::vector<std::uint8_t> deflate(std::span<const std::uint8_t> raw) {
  uLongf size = ::compressBound(raw.size());
  std::vector<std::uint8_t> out(size);
  ::compress2(out.data(), &size, raw.data(), raw.size(), 6);
  out.resize(size);
  return out;
}

struct PngChunk {
  std::string type;
  std::vector<std::uint8_t> data;
};

struct PngRecipe {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint8_t bit_depth = 8;
  std::uint8_t color_type = 0;
  std::uint8_t interlace = 0;
  std::vector<std::uint8_t> palette{};            // of the PLTE chunk; empty: no such chunk
  std::vector<std::uint8_t> rows{};               // the filter byte and the filtered bytes of each row
  std::vector<std::uint8_t> image_data{};         // replaces the deflated rows unless it is empty
  std::size_t idat_bytes = std::size_t{1} << 30;  // of the longest IDAT chunk
  std::vector<PngChunk> before_palette{};
  std::vector<PngChunk> before_data{};  // after the palette
  std::vector<PngChunk> after_data{};
};

inline Bytes build_png(const PngRecipe& recipe) {
  Bytes out;
  append(out, std::array<std::uint8_t, 8>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'});
  Bytes header;
  append_big_endian(header, recipe.width);
  append_big_endian(header, recipe.height);
  append(header, std::array<std::uint8_t, 5>{recipe.bit_depth, recipe.color_type, 0, 0, recipe.interlace});
  append_chunk(out, "IHDR", {reinterpret_cast<const std::uint8_t*>(header.data()), header.size()});
  for (const PngChunk& chunk : recipe.before_palette) append_chunk(out, chunk.type, chunk.data);
  if (!recipe.palette.empty()) append_chunk(out, "PLTE", recipe.palette);
  for (const PngChunk& chunk : recipe.before_data) append_chunk(out, chunk.type, chunk.data);
  const std::vector<std::uint8_t> stream = recipe.image_data.empty() ? deflate(recipe.rows) : recipe.image_data;
  for (std::size_t begin = 0; begin < stream.size(); begin += recipe.idat_bytes) {
    const std::size_t size = std::min(recipe.idat_bytes, stream.size() - begin);
    append_chunk(out, "IDAT", std::span(stream).subspan(begin, size));
  }
  for (const PngChunk& chunk : recipe.after_data) append_chunk(out, chunk.type, chunk.data);
  append_chunk(out, "IEND", {});
  return out;
}

// Returns `pixels` as rows of `row_bytes` bytes with filter None.
inline std::vector<std::uint8_t> unfiltered_rows(std::span<const std::uint8_t> pixels, std::size_t row_bytes) {
  std::vector<std::uint8_t> rows;
  for (std::size_t begin = 0; begin < pixels.size(); begin += row_bytes) {
    rows.push_back(0);
    rows.insert(rows.end(), pixels.begin() + static_cast<std::ptrdiff_t>(begin),
                pixels.begin() + static_cast<std::ptrdiff_t>(begin + row_bytes));
  }
  return rows;
}

// Returns width x height pixels that differ from their neighbours: 0, 7, 14, ... mod 256.
inline std::vector<std::uint8_t> ramp(std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint8_t> pixels(std::size_t{width} * height);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(7 * i);
  return pixels;
}

inline Bytes gray_png(std::uint32_t width, std::uint32_t height) {
  return build_png({.width = width, .height = height, .rows = unfiltered_rows(ramp(width, height), width)});
}

}  // namespace chexbench::image::test
