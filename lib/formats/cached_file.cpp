#include "formats/cached_file.hpp"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "core/errors.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "formats/crc32c.hpp"
#include "formats/shards.hpp"
#include "image/decoded_image.hpp"

namespace chexbench::formats {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint32_t kRgb = 1;  // CachedHeader::color
constexpr std::size_t kCheckedBytes = offsetof(CachedHeader, header_crc);

std::uint32_t crc_of(const CachedHeader& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(kCheckedBytes));
}

std::uint64_t pixel_bytes_of_image(const CachedHeader& header) {
  const std::uint64_t pixels = std::uint64_t{header.image_size} * header.image_size;
  return header.color == kRgb ? 3 * pixels : pixels;
}

// Returns the least number of bytes per image, so that no product with a damaged count overflows.
std::uint64_t bytes_of_image(const CachedHeader& header) { return sizeof(CachedEntry) + pixel_bytes_of_image(header); }

// Returns why the header cannot be that of a file of `bytes` bytes, or "" if it can.
std::string fault_of(const CachedHeader& header, std::uint64_t bytes) {
  const CachedHeader expected;
  if (header.magic != expected.magic) return "it does not begin like one";
  if (header.header_crc != crc_of(header)) return "the CRC of its header is wrong";
  if (header.version != expected.version) {
    return fmt::format("it has version {}, and this chexbench reads {}", header.version, expected.version);
  }
  const bool is_sane = header.image_size > 0 && header.image_size <= std::uint32_t{image::kMaxImageSide} &&
                       header.names_bytes < bytes && header.images <= bytes / bytes_of_image(header) &&
                       header.resize <= static_cast<std::uint32_t>(spec::ResizeMethod::area) && header.color <= kRgb;
  if (!is_sane) return "its header is damaged";
  const std::uint64_t wanted = CachedLayout(header).file_bytes;
  return wanted == bytes ? "" : fmt::format("it has {} bytes and should have {}", bytes, wanted);
}

}  // namespace

CachedLayout::CachedLayout(const CachedHeader& header)
    : entries(sizeof header),
      names(entries + header.images * sizeof(CachedEntry)),
      pixels((names + header.names_bytes + kPageBytes - 1) / kPageBytes * kPageBytes),
      image_bytes(pixel_bytes_of_image(header)),
      file_bytes(pixels + header.images * image_bytes) {}

CachedHeader cached_header(const image::PixelSpec& pixels, std::uint64_t images, std::uint64_t names_bytes,
                           std::uint32_t table_crc) {
  CachedHeader header;
  header.image_size = static_cast<std::uint32_t>(pixels.image_size);
  header.images = images;
  header.names_bytes = names_bytes;
  header.resize = static_cast<std::uint32_t>(pixels.resize);
  header.table_crc = table_crc;
  header.color = pixels.color == spec::Color::rgb ? kRgb : 0;
  header.header_crc = crc_of(header);
  return header;
}

std::string cached_path(const std::string& root, spec::Split split, const image::PixelSpec& pixels) {
  return std::filesystem::path(format_folder(root, spec::DataFormat::cached)) /
         fmt::format("{}-{}-{}.{}", spec::to_string(split), pixels.image_size, spec::to_string(pixels.resize),
                     spec::to_string(pixels.color));
}

bool is_cached_name(std::string_view name) { return name.ends_with(".gray") || name.ends_with(".rgb"); }

std::string cached_command(const std::string& root, spec::Split split, const image::PixelSpec& pixels) {
  return fmt::format("make it with: chexbench data convert {} --split {} --to cached --image-size {}{}{}",
                     shell_word(root), spec::to_string(split), pixels.image_size,
                     pixels.resize == spec::ResizeMethod::area ? " --resize area" : "",
                     pixels.color == spec::Color::rgb ? " --color rgb" : "");
}

std::shared_ptr<const CachedFile> CachedFile::open(const std::string& path, spec::FileReading reading) {
  return open(storage::open_ranges(path, reading));
}

std::shared_ptr<const CachedFile> CachedFile::open(std::shared_ptr<const storage::FileRanges> file) {
  return std::shared_ptr<const CachedFile>(new CachedFile(std::move(file)));
}

CachedFile::CachedFile(std::shared_ptr<const storage::FileRanges> file) : file_(std::move(file)) {
  read_header();
  read_table();
}

void CachedFile::refuse(const std::string& reason) const {
  throw DataError(fmt::format("{}: not a file of cached pixels: {}; remove it and convert again", path(), reason));
}

void CachedFile::read_header() {
  if (file_->size() < sizeof header_) refuse(fmt::format("it has {} bytes", file_->size()));
  storage::ByteBuffer buffer;
  std::memcpy(&header_, file_->range(0, sizeof header_, buffer).data(), sizeof header_);
  if (const std::string fault = fault_of(header_, file_->size()); !fault.empty()) refuse(fault);
}

void CachedFile::read_table() {
  const CachedLayout layout(header_);
  storage::ByteBuffer buffer;
  const auto table = file_->range(layout.entries, layout.names + header_.names_bytes - layout.entries, buffer);
  if (crc32c(table) != header_.table_crc) refuse("the CRC of its table is wrong");
  entries_.resize(header_.images);
  if (!entries_.empty()) std::memcpy(entries_.data(), table.data(), header_.images * sizeof(CachedEntry));
  names_text_ = storage::as_text(table.subspan(layout.names - layout.entries));
  std::string_view names = names_text_;
  for (std::size_t end = 0; (end = names.find('\n')) != std::string_view::npos; names.remove_prefix(end + 1)) {
    names_.push_back(names.substr(0, end));
  }
  if (names_.size() != entries_.size()) {
    refuse(fmt::format("it has {} names for {} images", names_.size(), entries_.size()));
  }
}

image::PixelSpec CachedFile::made_for() const {
  return {.image_size = static_cast<int>(header_.image_size),
          .resize = static_cast<spec::ResizeMethod>(header_.resize),
          .color = header_.color == kRgb ? spec::Color::rgb : spec::Color::gray};
}

std::uint64_t CachedFile::pixels_bytes() const { return CachedLayout(header_).image_bytes * images(); }

std::span<const std::byte> CachedFile::pixels(std::size_t image, storage::ByteBuffer& buffer) const {
  const CachedLayout layout(header_);
  const std::uint64_t begin = layout.pixels + image * layout.image_bytes;
  const auto fail = [&](const std::string& reason) {
    throw DataError(
        fmt::format("{}: pixels at offset {}: image {}: {}", path(), begin, printable(names_.at(image)), reason));
  };
  if (entries_.at(image).state == CachedEntry::State::damaged) fail("it could not be decoded when it was converted");
  const std::span<const std::byte> view = file_->range(begin, layout.image_bytes, buffer);
  if (crc32c(view) != entries_[image].pixels_crc) fail("the CRC of its pixels is wrong");
  return view;
}

std::string difference(const CachedFile& file, std::span<const CachedSource> images) {
  if (file.images() != images.size()) {
    return fmt::format("it holds {} images, but there are {} now", file.images(), images.size());
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    const CachedSource& image = images[i];
    if (file.name(i) != image.name) {
      return fmt::format("it holds {}, but there is {} now", printable(file.name(i)), printable(image.name));
    }
    const CachedEntry& entry = file.entry(i);
    if (image.bytes && entry.source_bytes != *image.bytes) {
      return fmt::format("image {} had {} bytes and has {} now", printable(image.name), entry.source_bytes,
                         *image.bytes);
    }
  }
  return {};
}

}  // namespace chexbench::formats
