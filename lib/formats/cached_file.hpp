// Decoded images of a split in one file: ROOT/cached/SPLIT-SIZE-RESIZE.gray, mapped and read without copies.
// Layout, little endian: CachedHeader | CachedEntry of each image | their names, each with a newline | zeros up to a
// multiple of 4096 | pixels of each image, SIZE x SIZE bytes of gray. Images stand in the order of their names. Their
// labels are the index's: new ones need no new file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "image/pixel_spec.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {

struct CachedHeader {
  std::array<char, 8> magic = {'C', 'H', 'E', 'X', 'G', 'R', 'A', 'Y'};
  std::uint32_t version = 1;  // of the layout, and of what decoding and resizing give
  std::uint32_t image_size = 0;
  std::uint64_t images = 0;
  std::uint64_t names_bytes = 0;
  std::uint32_t resize = 0;     // spec::ResizeMethod
  std::uint32_t table_crc = 0;  // crc32c of entries and names
  std::uint32_t zero = 0;
  std::uint32_t header_crc = 0;  // crc32c of the bytes before it
};
static_assert(sizeof(CachedHeader) == 48);

struct CachedEntry {
  enum class State : std::uint8_t { missing, pixels, damaged };  // damaged: the image could not be decoded
  std::uint64_t source_bytes = 0;                                // of the image file
  std::uint32_t pixels_crc = 0;                                  // crc32c
  State state = State::missing;
  std::array<std::uint8_t, 3> zeros{};
};
static_assert(sizeof(CachedEntry) == 16);

// Where the parts of a file lie, by its header.
struct CachedLayout {
  explicit CachedLayout(const CachedHeader& header);
  std::uint64_t entries, names, pixels, image_bytes, file_bytes;
};

// With its checksum.
CachedHeader cached_header(const image::PixelSpec& pixels, std::uint64_t images, std::uint64_t names_bytes,
                           std::uint32_t table_crc);
std::string cached_path(const std::string& root, spec::Split split, const image::PixelSpec& pixels);
// "make it with: chexbench data convert ..."
std::string cached_command(const std::string& root, spec::Split split, const image::PixelSpec& pixels);

// Thread-safe.
class CachedFile {
 public:
  // @throws DataError: it cannot be read, is no such file, of another version or size than it says, or its table is
  // damaged
  static std::shared_ptr<const CachedFile> open(const std::string& path);

  const std::string& path() const { return file_->path(); }
  image::PixelSpec made_for() const;
  std::size_t images() const { return entries_.size(); }
  std::uint64_t pixels_bytes() const;  // of all images
  std::string_view name(std::size_t image) const { return names_[image]; }
  const CachedEntry& entry(std::size_t image) const { return entries_[image]; }
  // Takes its pages out of this process's memory, so that the kernel can drop them from the page cache: those that a
  // process has mapped it keeps.
  void release_pages() const;
  // A view of the mapped file, valid as long as this object. Checks their CRC.
  // @throws DataError naming file, offset and image: damaged, or not decodable when it was converted
  std::span<const std::byte> pixels(std::size_t image) const;

 private:
  explicit CachedFile(std::shared_ptr<const storage::MappedFile> file);

  const std::shared_ptr<const storage::MappedFile> file_;
  CachedHeader header_;
  std::vector<CachedEntry> entries_;
  std::vector<std::string_view> names_;  // into the file
};

// An image as it is now.
struct CachedSource {
  std::string_view name;
  std::optional<std::uint64_t> bytes;  // of its file; empty: not to be compared
};

// Why `file` was not made of these images, in the order of their names; empty where it was.
std::string difference(const CachedFile& file, std::span<const CachedSource> images);

}  // namespace chexbench::formats
