#include "fuzz/png_repair.hpp"

#include <zlib.h>

#include <algorithm>
#include <string>

namespace chexbench::fuzz {
namespace {

constexpr std::size_t kSignatureBytes = 8;
constexpr std::size_t kOverheadBytes = 12;  // of a chunk: length, type, CRC
constexpr std::size_t kMostRows = 1 << 16;  // bytes of compressed rows that are scrambled

struct Chunk {
  std::string type;
  Buffer data;
};

std::uint32_t big_endian_at(const Buffer& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes[at + i]);
  return value;
}

void put_big_endian(Buffer& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

// Reads chunks as far as there are any; the last one may have a wrong length, which becomes that of the rest.
std::vector<Chunk> chunks_of(const Buffer& bytes) {
  std::vector<Chunk> chunks;
  for (std::size_t at = kSignatureBytes; at + kOverheadBytes <= bytes.size();) {
    const std::size_t length = std::min<std::size_t>(big_endian_at(bytes, at), bytes.size() - at - kOverheadBytes);
    Chunk& chunk = chunks.emplace_back();
    for (std::size_t i = at + 4; i < at + 8; ++i) chunk.type += static_cast<char>(bytes[i]);
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at + 8);
    chunk.data.assign(begin, begin + static_cast<std::ptrdiff_t>(length));
    at += length + kOverheadBytes;
  }
  return chunks;
}

Buffer file_of(const Buffer& signature, const std::vector<Chunk>& chunks) {
  Buffer out(signature.begin(), signature.begin() + kSignatureBytes);
  for (const Chunk& chunk : chunks) {
    put_big_endian(out, static_cast<std::uint32_t>(chunk.data.size()));
    const std::size_t begin = out.size();
    for (const char letter : chunk.type) out.push_back(static_cast<std::byte>(letter));
    out.insert(out.end(), chunk.data.begin(), chunk.data.end());
    const auto* const checked = reinterpret_cast<const Bytef*>(out.data() + begin);
    put_big_endian(out, static_cast<std::uint32_t>(::crc32_z(0, checked, out.size() - begin)));
  }
  return out;
}

// Scrambles the rows, and puts them back into the first IDAT chunk.
void scramble_rows(std::vector<Chunk>& chunks, const Scramble& scramble) {
  Buffer stream;
  for (const Chunk& chunk : chunks) {
    if (chunk.type == "IDAT") stream.insert(stream.end(), chunk.data.begin(), chunk.data.end());
  }
  Buffer rows = inflated(stream, kMostRows);
  scramble(rows, kMostRows);
  bool is_first = true;
  for (Chunk& chunk : chunks) {
    if (chunk.type != "IDAT") continue;
    chunk.data = is_first ? deflated(rows) : Buffer();
    is_first = false;
  }
}

}  // namespace

Buffer deflated(Bytes bytes) {
  uLongf size = ::compressBound(bytes.size());
  Buffer out(size);
  ::compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
              Z_BEST_SPEED);
  out.resize(size);
  return out;
}

Buffer inflated(Bytes stream, std::size_t most) {
  Buffer out(most);
  z_stream zlib{};
  if (::inflateInit(&zlib) != Z_OK) return {};
  zlib.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  zlib.next_out = reinterpret_cast<Bytef*>(out.data());
  zlib.avail_out = static_cast<uInt>(most);
  ::inflate(&zlib, Z_SYNC_FLUSH);
  out.resize(most - zlib.avail_out);
  ::inflateEnd(&zlib);
  return out;
}

void mutate_png(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  const bool is_file = bytes.size() >= kSignatureBytes + kOverheadBytes;
  const bool scrambles_rows = is_file && seed % 2 == 0;
  if (!scrambles_rows) scramble(bytes, most);
  if (bytes.size() < kSignatureBytes || seed % 16 == 1 || seed % 16 == 3) return;
  std::vector<Chunk> chunks = chunks_of(bytes);
  if (scrambles_rows) scramble_rows(chunks, scramble);
  Buffer repaired = file_of(bytes, chunks);
  if (repaired.size() <= most) bytes = std::move(repaired);
}

}  // namespace chexbench::fuzz
