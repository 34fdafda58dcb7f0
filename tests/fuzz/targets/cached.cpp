// Files of cached pixels.
#include <algorithm>
#include <cstring>

#include "formats/cached_file.hpp"
#include "formats/crc32c.hpp"
#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {
namespace {

using formats::CachedEntry;
using formats::CachedHeader;

// Makes the size of the file fit its header, and sets the checksums of the header, the table and the first images.
void repair_cached(Buffer& bytes, std::size_t most) {
  CachedHeader header;
  if (bytes.size() < sizeof header) return;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.magic = CachedHeader().magic;
  header.version = CachedHeader().version;
  header.image_size = header.image_size % 32 + 1;
  header.images %= 8;
  header.names_bytes %= 64;
  header.resize %= 2;
  header.color %= 2;
  const formats::CachedLayout layout(header);
  if (layout.file_bytes > most) return;
  bytes.resize(layout.file_bytes);
  for (std::size_t image = 0; image < header.images; ++image) {
    CachedEntry entry;
    std::byte* const place = bytes.data() + layout.entries + image * sizeof entry;
    std::memcpy(&entry, place, sizeof entry);
    entry.pixels_crc =
        formats::crc32c(Bytes(bytes).subspan(layout.pixels + image * layout.image_bytes, layout.image_bytes));
    std::memcpy(place, &entry, sizeof entry);
  }
  const std::uint64_t table_bytes = layout.names + header.names_bytes - layout.entries;
  header.table_crc = formats::crc32c(Bytes(bytes).subspan(layout.entries, table_bytes));
  header = formats::cached_header({.image_size = static_cast<int>(header.image_size),
                                   .resize = static_cast<spec::ResizeMethod>(header.resize),
                                   .color = header.color == 0 ? spec::Color::gray : spec::Color::rgb},
                                  header.images, header.names_bytes, header.table_crc);
  std::memcpy(bytes.data(), &header, sizeof header);
}

void mutate_cached(Buffer& bytes, std::size_t most, std::uint64_t seed, const Scramble& scramble) {
  scramble(bytes, most);
  if (seed % 8 != 0) repair_cached(bytes, most);
}

}  // namespace

FUZZ_TARGET(cached, "formats/cached_file.cpp", mutate_cached) {
  const auto file =
      accepted({ExitCode::data}, [&] { return formats::CachedFile::open(storage::ranges_of(bytes, "input.gray")); });
  if (!file) return;
  const formats::CachedFile& cached = **file;
  const auto side = static_cast<std::size_t>(cached.made_for().image_size);
  const auto channels = static_cast<std::size_t>(cached.made_for().channels());
  std::vector<formats::CachedSource> sources;
  storage::ByteBuffer buffer;
  for (std::size_t image = 0; image < cached.images(); ++image) {
    sources.push_back({cached.name(image), cached.entry(image).source_bytes});
    const auto pixels = accepted({ExitCode::data}, [&] { return cached.pixels(image, buffer); });
    if (!pixels) continue;
    require(pixels->size() == side * side * channels, "cached pixels have another size than the file says");
    require(formats::crc32c(*pixels) == cached.entry(image).pixels_crc, "cached pixels were not checked");
  }
  require(formats::difference(cached, sources).empty(), "a cached file differs from what it holds");
}

}  // namespace chexbench::fuzz
