// The decoded images of a split in one file, ROOT/cached/SPLIT-SIZE-RESIZE.gray or .rgb, which is mapped and read
// without copies.
// The layout, in little endian, is: CachedHeader | a CachedEntry for each image | the names, each followed by a newline
// | zeros up to a multiple of 4096 | the pixels of each image, SIZE x SIZE bytes of gray, or SIZE x SIZE x 3 of
// interleaved red, green and blue, row by row. Images are in the order of their names. The file has no labels; they
// come from the index, so new labels need no new file.
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

#include "image/preprocess.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {

// The first 48 bytes of the file, as they are in memory.
struct CachedHeader {
  std::array<char, 8> magic = {'C', 'H', 'E', 'X', 'G', 'R', 'A', 'Y'};
  std::uint32_t version = 1;     // of the layout, and of the pixels produced by decoding and resizing
  std::uint32_t image_size = 0;  // the side of each image in pixels
  std::uint64_t images = 0;
  std::uint64_t names_bytes = 0;  // of all names with their newlines
  std::uint32_t resize = 0;       // a spec::ResizeMethod
  std::uint32_t table_crc = 0;    // crc32c of the entries and the names
  std::uint32_t color = 0;        // 0 gray, 1 rgb
  std::uint32_t header_crc = 0;   // crc32c of the bytes before it
};
static_assert(sizeof(CachedHeader) == 48);

// One image's entry in the file, as it is in memory. An image is `missing` until it has been converted, and `damaged`
// if it could not be decoded; the pixels of a damaged image are zeros.
struct CachedEntry {
  enum class State : std::uint8_t { missing, pixels, damaged };
  std::uint64_t source_bytes = 0;  // size of the image file that was decoded
  std::uint32_t pixels_crc = 0;    // crc32c of the image's pixels
  State state = State::missing;
  std::array<std::uint8_t, 3> zeros{};
};
static_assert(sizeof(CachedEntry) == 16);

// The offsets in bytes of the parts of a file with this header, the bytes of one image, and those of the whole file.
struct CachedLayout {
  explicit CachedLayout(const CachedHeader& header);
  std::uint64_t entries, names, pixels, image_bytes, file_bytes;
};

// Returns a header with its checksum for a file of `images` images, whose names take `names_bytes` bytes.
CachedHeader cached_header(const image::PixelSpec& pixels, std::uint64_t images, std::uint64_t names_bytes,
                           std::uint32_t table_crc);
// Returns the path of the file, whether it exists or not.
std::string cached_path(const std::string& root, spec::Split split, const image::PixelSpec& pixels);
// Returns whether a file of cached pixels may have that name.
bool is_cached_name(std::string_view name);
// Returns the end of an error message: "make it with: chexbench data convert ...".
std::string cached_command(const std::string& root, spec::Split split, const image::PixelSpec& pixels);

// A file of cached pixels. Its table is kept in memory; its pixels are read on demand. Thread-safe.
class CachedFile {
 public:
  // Maps the file, or opens it for copying, and checks its header and its table, but not the pixels.
  // @throws DataError if the file cannot be read, is not a file of cached pixels, has another version, does not have
  // the size in its header, or has a damaged header or table
  static std::shared_ptr<const CachedFile> open(const std::string& path,
                                                spec::FileReading reading = spec::FileReading::map);
  // Does the same with a file that is open, or with bytes in memory (storage::ranges_of()).
  static std::shared_ptr<const CachedFile> open(std::shared_ptr<const storage::FileRanges> file);

  const std::string& path() const { return file_->path(); }
  image::PixelSpec made_for() const;  // the size, the resize method and the color of the images
  std::size_t images() const { return entries_.size(); }
  std::uint64_t pixels_bytes() const;  // of all images
  std::string_view name(std::size_t image) const { return names_[image]; }
  const CachedEntry& entry(std::size_t image) const { return entries_[image]; }
  // Removes the file's pages from this process's memory, like FileRanges.
  void release_pages() const { file_->release_pages(); }
  // Returns the 8-bit pixels of one image, row by row, after checking their CRC. The result is a view of the
  // mapped file, which is valid as long as this object, or of `buffer`, which is valid until its next use.
  // @throws DataError naming file, offset and image if the pixels are damaged, or if the image could not be decoded
  // when it was converted; naming the file if it became shorter or cannot be read
  std::span<const std::byte> pixels(std::size_t image, storage::ByteBuffer& buffer) const;

 private:
  explicit CachedFile(std::shared_ptr<const storage::FileRanges> file);
  void read_header();
  void read_table();
  [[noreturn]] void refuse(const std::string& reason) const;

  const std::shared_ptr<const storage::FileRanges> file_;
  CachedHeader header_;
  std::vector<CachedEntry> entries_;
  std::string names_text_;               // a copy, because messages name images even after the file became shorter
  std::vector<std::string_view> names_;  // into names_text_
};

// A current image of the data set.
struct CachedSource {
  std::string_view name;
  std::optional<std::uint64_t> bytes;  // size of its file; std::nullopt if it is not to be compared
};

// Returns why `file` was not made from `images`, which are in the order of their names, or "" if it was. Compares
// names and sizes, so a file that changed to one of the same size is not noticed. Thread-safe.
std::string difference(const CachedFile& file, std::span<const CachedSource> images);

}  // namespace chexbench::formats
