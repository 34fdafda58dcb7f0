#include "dataset/make/convert.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/log.hpp"
#include "core/parallel.hpp"
#include "dataset/make/placed_file.hpp"
#include "dataset/make/progress.hpp"
#include "formats/crc32c.hpp"
#include "formats/shards.hpp"
#include "image/decoded_image.hpp"
#include "image/preprocess.hpp"

namespace chexbench::dataset {
namespace {

// A thread's buffers, reused from image to image.
struct Tools {
  explicit Tools(const image::PixelSpec& spec)
      : maker({.images = 1, .height = spec.image_size, .width = spec.image_size, .deliver = image::deliver_of(spec)},
              spec.resize) {}

  image::TensorMaker maker;
  storage::ByteBuffer file;
};

std::uint64_t bytes_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

// Returns whether the file at `path` exists and contains these images, with every CRC right.
bool is_finished(const std::string& path, const Dataset& dataset, std::size_t threads) {
  if (!std::filesystem::exists(path)) return false;
  try {
    const std::shared_ptr<const formats::CachedFile> file = formats::CachedFile::open(path);
    std::vector<formats::CachedSource> images;
    for (const ImageEntry& image : dataset.images) {
      images.push_back({.name = image.name, .bytes = bytes_of(image.path)});
    }
    if (!formats::difference(*file, images).empty()) return false;
    std::vector<storage::ByteBuffer> buffers(worker_count(images.size(), threads));
    parallel_for(images.size(), threads, [&](std::size_t worker, std::size_t i) {
      if (file->entry(i).state == formats::CachedEntry::State::pixels) file->pixels(i, buffers[worker]);
    });
    return true;
  } catch (const DataError&) {
    return false;  // it is damaged and will be rewritten
  }
}

// Returns the manifest of the finished file.
formats::Conversion conversion_of(const ConvertOptions& options, const Dataset& dataset, const std::string& path,
                                  bool kept) {
  const std::shared_ptr<const formats::CachedFile> file = formats::CachedFile::open(path);
  const std::uint64_t file_bytes = bytes_of(path);
  formats::Conversion result = begin_conversion(options, dataset);
  result.shard_bytes = file_bytes;
  result.shards = {
      {.name = std::filesystem::path(path).filename(), .records = file->images(), .bytes = file_bytes, .kept = kept}};
  for (std::size_t i = 0; i < file->images(); ++i) {
    if (file->entry(i).state == formats::CachedEntry::State::damaged) result.damaged.emplace_back(file->name(i));
  }
  return result;
}

std::string joined_names(const Dataset& dataset) {
  std::string names;
  for (const ImageEntry& image : dataset.images) names += image.name + '\n';
  return names;
}

class Writer {
 public:
  Writer(const ConvertOptions& options, const Dataset& dataset, const std::string& path)
      : options_(options),
        dataset_(dataset),
        path_(path),
        file_(path + ".partial"),
        names_(joined_names(dataset)),
        entries_(dataset.images.size()),
        layout_(header_with(0)) {}

  formats::Conversion run() {
    const formats::CachedHeader header = header_with(0);
    if (!go_on(header)) {
      file_.begin(layout_.file_bytes);
      file_.write(0, std::as_bytes(std::span(&header, 1)));
      file_.write(layout_.names, names());
    }
    convert();
    finish();
    return conversion_of(options_, dataset_, path_, kept_ > 0);
  }

 private:
  std::span<const std::byte> names() const { return std::as_bytes(std::span(names_.data(), names_.size())); }
  formats::CachedHeader header_with(std::uint32_t table_crc) const {
    return formats::cached_header(options_.pixels, dataset_.images.size(), names_.size(), table_crc);
  }

  // Takes over the entries that an interrupted conversion of the same images left. Returns false if there are none.
  bool go_on(const formats::CachedHeader& header) {
    formats::CachedHeader there;
    std::string names_there(names_.size(), '\0');
    const bool same =
        file_.bytes() == layout_.file_bytes && file_.read(0, std::as_writable_bytes(std::span(&there, 1))) &&
        std::memcmp(&there, &header, sizeof header) == 0 &&
        file_.read(layout_.names, std::as_writable_bytes(std::span(names_there))) && names_there == names_;
    std::vector<formats::CachedEntry> entries(entries_.size());
    if (!same || !file_.read(layout_.entries, std::as_writable_bytes(std::span(entries)))) return false;
    entries_ = std::move(entries);
    return true;
  }

  void convert() {
    Progress progress("converting", "images", entries_.size());
    std::vector<std::unique_ptr<Tools>> tools(worker_count(entries_.size(), options_.threads));
    parallel_for(entries_.size(), options_.threads, [&](std::size_t worker, std::size_t i) {
      if (!tools[worker]) tools[worker] = std::make_unique<Tools>(options_.pixels);
      is_kept(*tools[worker], i) ? void(++kept_) : convert_image(*tools[worker], i);
      progress.add();
      throw_if_interrupted();
    });
  }

  bool is_kept(Tools& tools, std::size_t i) const {
    const formats::CachedEntry& entry = entries_[i];
    const std::span<std::byte> pixels = tools.maker.memory();
    return entry.state == formats::CachedEntry::State::pixels &&
           bytes_of(dataset_.images[i].path) == entry.source_bytes && file_.read(pixels_at(i), pixels) &&
           formats::crc32c(pixels) == entry.pixels_crc;
  }

  std::uint64_t pixels_at(std::size_t i) const { return layout_.pixels + i * layout_.image_bytes; }

  void convert_image(Tools& tools, std::size_t i) {
    formats::CachedEntry& entry = entries_[i];
    const std::string& path = dataset_.images[i].path;
    const std::span<const std::byte> encoded = read_image_file(*dataset_.store, path, tools.file);
    entry.source_bytes = encoded.size();
    const std::span<std::byte> pixels = tools.maker.memory();
    try {
      tools.maker.run(encoded, path);
      entry.state = formats::CachedEntry::State::pixels;
    } catch (const DataError& error) {
      log::warning("{}; the cached pixels mark this image as damaged", error.what());
      std::ranges::fill(pixels, std::byte{0});
      entry.state = formats::CachedEntry::State::damaged;
    }
    entry.pixels_crc = formats::crc32c(pixels);
    file_.write(pixels_at(i), pixels);
    file_.write(layout_.entries + i * sizeof entry, std::as_bytes(std::span(&entry, 1)));
  }

  void finish() {
    std::vector<std::byte> table(layout_.names - layout_.entries + names_.size());
    std::memcpy(table.data(), entries_.data(), entries_.size() * sizeof(formats::CachedEntry));
    std::memcpy(table.data() + (layout_.names - layout_.entries), names_.data(), names_.size());
    const formats::CachedHeader header = header_with(formats::crc32c(table));
    file_.write(layout_.entries, table);
    file_.write(0, std::as_bytes(std::span(&header, 1)));
    file_.commit(path_);
  }

  const ConvertOptions& options_;
  const Dataset& dataset_;
  const std::string path_;
  PlacedFile file_;
  const std::string names_;
  std::vector<formats::CachedEntry> entries_;
  const formats::CachedLayout layout_;
  std::atomic<std::size_t> kept_ = 0;
};

}  // namespace

formats::Conversion convert_to_cached(const ConvertOptions& options, const Dataset& dataset) {
  if (options.pixels.image_size < 1 || options.pixels.image_size > image::kMaxImageSide) {
    throw SpecError(
        fmt::format("--image-size {}: it must be from 1 to {}", options.pixels.image_size, image::kMaxImageSide));
  }
  if (options.shards != 0) throw SpecError("--shards cannot be given with --to cached: cached pixels are one file");
  for (const ImageEntry& image : dataset.images) {
    if (image.name.find('\n') == std::string::npos) continue;
    throw DataError(fmt::format("{}: cached pixels cannot hold a name with a line break: rename the file", image.path));
  }
  const std::string path = formats::cached_path(options.root, options.split, options.pixels);
  const bool kept = is_finished(path, dataset, options.threads);
  return kept ? conversion_of(options, dataset, path, true) : Writer(options, dataset, path).run();
}

}  // namespace chexbench::dataset
