#include "dataset/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "dataset/image_files.hpp"
#include "dataset/index.hpp"
#include "dataset/layouts.hpp"
#include "dataset/passed_over.hpp"
#include "formats/cached_file.hpp"
#include "formats/manifest.hpp"
#include "formats/shards.hpp"
#include "formats/tfrecord.hpp"
#include "image/dicom/dicom_decoder.hpp"
#include "image/jpeg/jpeg_file.hpp"
#include "image/png/png_file.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

ImageEntry entry_of(const IndexRow& row) {
  return {.name = std::string(row.name), .path = {}, .labels = row.labels, .patient = row.patient};
}

constexpr std::uint64_t kLargeImageBytes = std::uint64_t{64} << 20;  // too slow to read just to reject

// @throws DataError if the file does not begin like an image
void check_begins_as_image(const storage::Store& store, const std::string& path) {
  const storage::SharedBytes head = store.stream(path, {})->take(image::kDicomBeginningBytes);
  if (image::is_png(head.bytes) || image::is_jpeg(head.bytes) || image::is_dicom(head.bytes)) return;
  throw DataError(fmt::format(
      "{}: byte 0: not a PNG, JPEG or DICOM file, and too large to try other formats: take it out of the data set",
      path));
}

// Returns whether the root defines which images are in the split.
bool tells_of(const Index& index, spec::Split split) {
  switch (split) {
    case spec::Split::train:
      return index.has_train_list;
    case spec::Split::val:
      return index.has_val_list;
    case spec::Split::test:
      return index.has_test_list;
    case spec::Split::all:
      break;
  }
  return true;
}

// Returns, for a message, what should define the images of the split, and the remedy.
std::string missing_list(spec::DataLayout layout, spec::Split split) {
  if (layout == spec::DataLayout::csv) {
    return fmt::format("row of split '{}'; set data.labels.split_column to the column that says it",
                       spec::to_string(split));
  }
  if (layout == spec::DataLayout::chexpert) {
    const char* const table = split == spec::Split::train ? "train.csv"
                              : split == spec::Split::val ? "valid.csv"
                                                          : "test.csv or test_labels.csv";
    return fmt::format("{}; add it", table);
  }
  if (layout == spec::DataLayout::mimic) return "image of this split in the table of splits";
  if (layout == spec::DataLayout::imagenet) {
    return fmt::format("shard of split '{}' ({}-00000-of-...)", spec::to_string(split),
                       split == spec::Split::val ? "validation" : spec::to_string(split));
  }
  if (layout == spec::DataLayout::folders) return fmt::format("folder '{}'; add it", spec::to_string(split));
  if (split == spec::Split::val) return "list of this split in ChestX-ray14; use train or test";
  return split == spec::Split::train ? "train_val_list.txt; add it" : "test_list.txt; add it";
}

std::vector<const IndexRow*> rows_of_split(const Index& index, spec::Split split) {
  std::vector<const IndexRow*> rows;
  rows.reserve(index.rows.size());
  for (const IndexRow& row : index.rows) {
    if (row.in(split)) rows.push_back(&row);
  }
  if (!rows.empty()) return rows;
  if (tells_of(index, split)) {
    throw DataError(fmt::format("split '{}' of '{}' is empty: no row of {} belongs to it", spec::to_string(split),
                                index.root, index.table));
  }
  throw DataError(
      fmt::format("split '{}' of '{}' is empty: there is no {}, or use data.split = \"all\": --set data.split=all, or "
                  "--split all of commands that have it",
                  spec::to_string(split), index.root, missing_list(index.layout, split)));
}

// Estimates the bytes of all files from the sizes of at most 32 of them, evenly spread, because a web server's folder
// pages do not report sizes.
std::uint64_t estimated_bytes(const storage::Store& store, const std::vector<std::string>& paths) {
  constexpr std::size_t kAsked = 32;
  double sum_bytes = 0, asked = 0;
  for (std::size_t i = 0; i < paths.size(); i += (paths.size() + kAsked - 1) / kAsked) {
    const std::optional<std::uint64_t> bytes = store.size(paths[i]);
    if (!bytes) continue;
    sum_bytes += static_cast<double>(*bytes);
    ++asked;
  }
  return asked == 0 ? 0 : static_cast<std::uint64_t>(sum_bytes / asked * static_cast<double>(paths.size()));
}

// Adds the rows that have a file, in the order of names. Rows and files are both sorted by name.
void add_png_files(const std::vector<const IndexRow*>& rows, const storage::DataRoot& root, const spec::DataSpec& spec,
                   const Index& index, Dataset& dataset) {
  NameArena names;
  PassedOver passed;
  const std::vector<ImageFile> files = find_files(root, index, names, &passed);
  if (const std::string text = passed_images_text(passed); !text.empty())
    log::warning_once("{}: passed over: {}; `chexbench data index` counts them", spec.root, text);
  std::vector<std::string> of_unknown_size;
  dataset.images.reserve(std::min(rows.size(), files.size()));
  auto file = files.begin();
  for (const IndexRow* const row : rows) {
    while (file != files.end() && file->name < row->name) ++file;
    if (file == files.end() || file->name != row->name) continue;
    ImageEntry& entry = dataset.images.emplace_back(entry_of(*row));
    entry.path = file->path;
    dataset.total_bytes += file->bytes.value_or(0);
    if (!file->bytes) of_unknown_size.emplace_back(file->path);
  }
  dataset.total_bytes += estimated_bytes(*root.store, of_unknown_size);
  if (dataset.images.empty()) {
    throw DataError(
        fmt::format("split '{}' of '{}' is empty: it lists {} images, and none of their files is in the root or a "
                    "folder below it{}",
                    spec::to_string(spec.split), spec.root, rows.size(), dicom_hint(root)));
  }
  if (dataset.images.size() < rows.size()) {
    log::warning("{}: {} of the {} images of split '{}' have no file and are left out", spec.root,
                 rows.size() - dataset.images.size(), rows.size(), spec::to_string(spec.split));
  }
}

// Returns whether a local shard is compressed.
bool is_compressed(const std::string& shard) {
  const auto file = storage::open_ranges(shard, spec::FileReading::copy);
  storage::ByteBuffer buffer;
  const std::size_t bytes = std::min<std::size_t>(file->size(), formats::kRecordHeaderBytes);
  return formats::is_compressed_tfrecord(file->range(0, bytes, buffer));
}

// Records store labels by number, so the numbers must mean the same as when the shards were made.
// @throws DataError if they do not, according to the manifest
void check_labels(const storage::DataRoot& root, const spec::DataSpec& spec,
                  const std::vector<std::string>& label_names) {
  const std::optional<formats::Manifest> manifest = formats::read_manifest(root, spec.split, spec.format);
  if (!manifest || manifest->has_labels(label_names)) return;
  throw DataError(fmt::format("the {} shards of split '{}' in {} were made with other labels, or in another order: {}",
                              spec::to_string(spec.format), spec::to_string(spec.split),
                              formats::format_folder(root.path, spec.format),
                              formats::convert_command(root.path, spec.split, spec.format)));
}

// Returns the shards of the split: those that are the index, or those that a conversion made.
std::vector<std::string> shards_of(const Index& index, const storage::DataRoot& root, const spec::DataSpec& spec) {
  if (index.layout != spec::DataLayout::imagenet) return formats::find_shards(root, spec.split, spec.format);
  if (spec.format != spec::DataFormat::tfrecord) {
    throw DataError(
        fmt::format("'{}' holds TFRecords alone (data.layout imagenet), but data.format is {}: set it to "
                    "tfrecord",
                    root.path, spec::to_string(spec.format)));
  }
  IndexRow of_split;
  std::vector<std::string> shards;
  for (const IndexShard& shard : index.shards) {
    of_split.in_train = of_split.in_val = of_split.in_test = false;
    of_split.*shard.split = true;
    if (of_split.in(spec.split)) shards.push_back(shard.path);
  }
  return shards;
}

void add_shards(const std::vector<const IndexRow*>& rows, const storage::DataRoot& root, const spec::DataSpec& spec,
                const Index& index, Dataset& dataset) {
  dataset.shards = shards_of(index, root, spec);
  for (const std::string& shard : dataset.shards) {
    const std::optional<std::uint64_t> bytes = root.store->size(shard);
    if (!bytes) throw DataError(fmt::format("cannot read {}: it is gone", shard));
    dataset.shard_bytes.push_back(*bytes);
    dataset.total_bytes += *bytes;
  }
  const std::optional<formats::Manifest> manifest = formats::read_manifest(root, spec.split, spec.format);
  const std::uint64_t written = manifest ? manifest->shard_bytes.value_or(dataset.total_bytes) : dataset.total_bytes;
  if (written != dataset.total_bytes) {
    log::warning(
        "the shards of {} have {} bytes, but {} says {}: they are not the shards that it describes, or records are "
        "lost; `chexbench data check` examines them",
        root.path, dataset.total_bytes, formats::manifest_path(root.path, spec.split, spec.format), written);
  }
  dataset.compressed =
      spec.format == spec::DataFormat::tfrecord && root.store->is_local() && is_compressed(dataset.shards.front());
  dataset.images.reserve(rows.size());
  for (const IndexRow* const row : rows) dataset.images.push_back(entry_of(*row));
}

// Returns a list of the existing files of cached pixels, for a message.
std::string cached_kinds(const storage::DataRoot& root, spec::Split split) {
  std::string kinds;
  for (const storage::StoreEntry& entry :
       root.store->list(formats::format_folder(root.path, spec::DataFormat::cached))) {
    if (!entry.name.starts_with(spec::to_string(split) + "-") || !formats::is_cached_name(entry.name)) continue;
    kinds += (kinds.empty() ? "; there is " : ", ") + entry.name;
  }
  return kinds;
}

// Returns the images from which the pixels were made, as they are now: the rows that have a file or, if the root's
// image files were removed, the rows that are in `cached`.
std::vector<formats::CachedSource> sources_of(const std::vector<const IndexRow*>& rows,
                                              const std::vector<ImageFile>& files, const formats::CachedFile& cached) {
  std::vector<formats::CachedSource> sources;
  std::size_t file = 0, held = 0;
  for (const IndexRow* const row : rows) {
    while (file < files.size() && files[file].name < row->name) ++file;
    while (held < cached.images() && cached.name(held) < row->name) ++held;
    const bool has_file = file < files.size() && files[file].name == row->name;
    const bool is_held = held < cached.images() && cached.name(held) == row->name;
    if (files.empty() ? !is_held : !has_file) continue;
    sources.push_back({.name = row->name, .bytes = has_file ? files[file].bytes : std::nullopt});
  }
  return sources;
}

void add_cached(const std::vector<const IndexRow*>& rows, const storage::DataRoot& root, const spec::DataSpec& spec,
                const image::PixelSpec& pixels, const Index& index, Dataset& dataset) {
  const std::string path = formats::cached_path(root.path, spec.split, pixels);
  const std::string command = formats::cached_command(root.path, spec.split, pixels);
  if (root.store->is_distant()) {
    throw DataError(fmt::format(
        "data.format cached maps a file in a folder of this machine, and {} is not such a folder", root.path));
  }
  if (!root.store->size(path)) {
    throw DataError(fmt::format("no cached pixels {}{}: {}", path, cached_kinds(root, spec.split), command));
  }
  dataset.cached = formats::CachedFile::open(path, spec.store.read);
  const image::PixelSpec made_for = dataset.cached->made_for();
  if (made_for != pixels) {
    throw DataError(fmt::format("{} holds images of {} pixels a side, resized with {}, in {}: {}", path,
                                made_for.image_size, spec::to_string(made_for.resize), spec::to_string(made_for.color),
                                command));
  }
  NameArena names;
  const std::vector<ImageFile> files = find_files(root, index, names);
  const std::vector<formats::CachedSource> sources = sources_of(rows, files, *dataset.cached);
  const std::string reason = formats::difference(*dataset.cached, sources);
  if (!reason.empty()) throw DataError(fmt::format("{} is stale: {}; {}", path, reason, command));
  dataset.total_bytes = dataset.cached->pixels_bytes();
  auto source = sources.begin();
  for (const IndexRow* const row : rows) {
    if (source == sources.end() || row->name != source->name) continue;
    ImageEntry& entry = dataset.images.emplace_back(entry_of(*row));
    entry.place = static_cast<std::uint32_t>(source - sources.begin());
    ++source;
  }
}

// Logs the detected layout, and the effect of naming it in the spec.
void tell_layout(const spec::DataSpec& spec, const Index& index) {
  if (spec.layout != spec::DataLayout::automatic || index.layout == spec::DataLayout::nih) return;
  log::info_once("{}: read as data.layout {}, {} label{}, from {}", spec.root, spec::to_string(index.layout),
                 index.label_names.size(), index.label_names.size() == 1 ? "" : "s", index.table);
  if (index.layout == spec::DataLayout::imagenet && spec.color == spec::Color::automatic) {
    log::info_once("{}: its images are decoded to gray; data.layout imagenet or data.color rgb decodes them in color",
                   spec.root);
  }
}

// Opens a split of a root whose index was read.
Dataset open_split(const spec::DataSpec& spec, const image::PixelSpec& pixels, const storage::DataRoot& root,
                   const Index& index) {
  Dataset dataset;
  dataset.format = spec.format;
  dataset.store = root.store;
  dataset.label_names = index.label_names;
  dataset.has_patients = index.has_patients;
  dataset.has_unclear_labels = index.has_unclear_labels;
  const std::vector<const IndexRow*> rows = rows_of_split(index, spec.split);
  if (spec::reads_shards(spec.format)) {
    add_shards(rows, root, spec, index, dataset);
    if (index.layout != spec::DataLayout::nih) check_labels(root, spec, index.label_names);
  } else if (index.layout == spec::DataLayout::imagenet) {
    shards_of(index, root, spec);  // names the format that exists
  } else if (spec.format == spec::DataFormat::cached) {
    add_cached(rows, root, spec, pixels, index, dataset);
  } else {
    add_png_files(rows, root, spec, index, dataset);
  }
  return dataset;
}

Dataset open_in(const storage::DataRoot& root, const spec::DataSpec& spec, const image::PixelSpec& pixels,
                const Index& index) {
  tell_layout(spec, index);
  Dataset dataset = open_split(spec, pixels, root, index);
  if (index.layout == spec::DataLayout::imagenet && index.has_val_list && spec.split == spec::Split::train) {
    spec::DataSpec validation = spec;
    validation.split = spec::Split::val;
    dataset.validation = std::make_shared<const Dataset>(open_split(validation, pixels, root, index));
  }
  return dataset;
}

}  // namespace

std::vector<std::string> nih_label_names() { return {kNihLabelNames.begin(), kNihLabelNames.end()}; }

std::span<const std::byte> read_image_file(const storage::Store& store, const std::string& path,
                                           storage::ByteBuffer& buffer) {
  if (store.is_local() && store.size(path).value_or(0) > kLargeImageBytes) check_begins_as_image(store, path);
  return store.read(path, buffer);
}

std::span<const std::byte> read_image(const Dataset& dataset, std::uint32_t image, storage::ByteBuffer& buffer) {
  const ImageEntry& entry = dataset.images.at(image);
  if (dataset.cached) return dataset.cached->pixels(entry.place, buffer);
  return read_image_file(*dataset.store, entry.path, buffer);
}

std::vector<std::string> class_names(std::vector<std::string> known, std::size_t count) {
  known.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    if (known[i].empty()) known[i] = fmt::format("class {}", i + 1);
  return known;
}

std::optional<std::uint32_t> find_image(const Dataset& dataset, std::string_view name) {
  const auto found =
      std::lower_bound(dataset.images.begin(), dataset.images.end(), name,
                       [](const ImageEntry& image, std::string_view wanted) { return image.name < wanted; });
  if (found == dataset.images.end() || found->name != name) return std::nullopt;
  return static_cast<std::uint32_t>(found - dataset.images.begin());
}

Dataset open_dataset(const spec::DataSpec& spec, const image::PixelSpec& pixels) {
  if (spec.format != spec::DataFormat::ready) {
    const storage::DataRoot root(spec);
    return open_in(root, spec, pixels, read_index(root));
  }
  Dataset dataset;
  dataset.format = spec.format;
  if (spec.labels.classes > 0) dataset.label_names = class_names({}, static_cast<std::size_t>(spec.labels.classes));
  return dataset;
}

Dataset open_dataset(const spec::DataSpec& spec, const image::PixelSpec& pixels, const Index& index) {
  return open_in(storage::DataRoot(spec), spec, pixels, index);
}

}  // namespace chexbench::dataset
