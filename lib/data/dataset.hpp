// A split of a ChestX-ray14 data set, ready to be read: which images, which labels, which shards.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "data/store/local_store.hpp"
#include "spec/experiment.hpp"

namespace chexbench::data {

// Bit f set: finding f (see findings.hpp) is present. 0: "No Finding".
using LabelBits = std::uint16_t;

struct ImageEntry {
  std::string name;  // 00000001_000.png
  std::string path;  // openable
  LabelBits labels = 0;
  std::uint32_t patient = 0;
};

// What a trial reads. `images` lists the split in the order of file names, for all formats: an ExampleId::image is an
// index into it. png: the images that have a file; tfrecord: all rows of the split (paths are empty then: their bytes
// come from the shards). `shards` is empty unless the format is tfrecord.
struct Dataset {
  spec::DataFormat format = spec::DataFormat::png;
  std::vector<ImageEntry> images;
  std::vector<std::string> shards;
  std::uint64_t total_bytes = 0;  // of the files that will be read; estimated where a server does not tell
  std::shared_ptr<const Store> store = local_store();  // of all paths

  // What an op list calls a file: images for png, shards for tfrecord.
  std::size_t files() const { return format == spec::DataFormat::tfrecord ? shards.size() : images.size(); }
};

// Opens the split of `spec.root` that the spec asks for. For `synthetic` an empty Dataset.
// @throws DataError: no such root, no CSV, an empty split, no TFRecords (names the command that makes them)
Dataset open_dataset(const spec::DataSpec& spec);

// The index in `dataset.images` of the image called `name`, as a record's image/filename: log2(images) comparisons.
// Thread-safe.
std::optional<std::uint32_t> find_image(const Dataset& dataset, std::string_view name);

}  // namespace chexbench::data
