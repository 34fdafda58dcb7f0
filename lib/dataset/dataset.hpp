// A split of a data set, ready to be read: which images, which labels, which shards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "core/label_bits.hpp"
#include "image/pixel_spec.hpp"
#include "spec/experiment.hpp"
#include "storage/local_store.hpp"

namespace chexbench::formats {
class CachedFile;  // formats/cached_file.hpp
}

namespace chexbench::dataset {

struct ImageEntry {
  std::string name;  // 00000001_000.png
  std::string path;  // openable
  LabelBits labels;
  std::uint32_t patient = 0;
  std::uint32_t place = 0;  // of format cached: which image of Dataset::cached it is
};

// The labels of ChestX-ray14, and of synthetic batches (findings.hpp).
std::vector<std::string> finding_names();

// What a trial reads. `images` lists the split in the order of file names, for all formats: an ExampleId::image is an
// index into it. png, cached: the images that have a file; a format of shards: all rows of the split (paths are empty
// then: their bytes come from the shards). `shards` is empty for other formats.
struct Dataset {
  spec::DataFormat format = spec::DataFormat::png;
  std::vector<ImageEntry> images;
  std::vector<std::string> shards;
  bool partial = false;     // shards hold other images, too, which readers leave out
  bool compressed = false;  // the shards, as a look at the first one tells: their records are copies
  std::shared_ptr<const formats::CachedFile> cached;  // of format cached: ImageEntry::place
  std::uint64_t total_bytes = 0;  // of the files that will be read; estimated where a server does not tell
  std::shared_ptr<const storage::Store> store = storage::local_store();  // of all paths
  // What label f of an image is called: the order of batches, logits and LabelBits. The same for all splits of a root.
  std::vector<std::string> label_names = finding_names();

  int labels() const { return static_cast<int>(label_names.size()); }

  // What an op list calls a file: images for png and cached, else shards.
  std::size_t files() const { return spec::reads_shards(format) ? shards.size() : images.size(); }
};

// Opens the split of `spec.root` that the spec asks for. For `synthetic` an empty Dataset.
// @throws DataError: no such root, no CSV, an empty split; nothing in the format asked for, or, of cached, nothing for
// `pixels`, or made of other images than those that are there (names the command that mends it)
Dataset open_dataset(const spec::DataSpec& spec, const image::PixelSpec& pixels = {});

// What an image's own record holds, of a format without shards: its file's bytes, or, of cached, its pixels. The view
// is valid until the buffer's next use, or as long as the Dataset. Thread-safe.
// @throws DataError naming the file and the reason
std::span<const std::byte> read_image(const Dataset& dataset, std::uint32_t image, storage::ByteBuffer& buffer);

// The index in `dataset.images` of the image called `name`, as a record's image/filename: log2(images) comparisons.
// Thread-safe.
std::optional<std::uint32_t> find_image(const Dataset& dataset, std::string_view name);

}  // namespace chexbench::dataset
