// Image files -> shards (TFRecords, or WebDataset's tar files), or one file of decoded pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "formats/manifest.hpp"
#include "image/pixel_spec.hpp"
#include "spec/experiment.hpp"

namespace chexbench::dataset {

inline constexpr int kMinShards = 16;

struct ConvertOptions {
  std::string root;
  spec::Split split = spec::Split::train;
  spec::DataFormat format = spec::DataFormat::tfrecord;  // one that reads_shards(), or cached
  image::PixelSpec pixels;                               // cached only
  int shards = 0;           // 0: the number that is there already, else one per 256 MiB, at least kMinShards
  std::size_t threads = 0;  // 0: one a usable core
  spec::DataLayout layout = spec::DataLayout::automatic;
  spec::LabelsSpec labels = {};
};

// What is known of it before anything is written.
formats::Conversion begin_conversion(const ConvertOptions& options, const Dataset& dataset);

// Writes the shards (shards.hpp) into ROOT/FORMAT and, when all are there, SPLIT-manifest.json. Every image of the
// split that has a file is in exactly one record. The images, in an order drawn once with a fixed seed, are dealt out
// in turn, so a shard is a random sample of the split and shards differ by at most one record; equal input gives equal
// bytes. Never more shards than images. A shard of an earlier, interrupted run is kept where its records are those that
// it would get, undamaged, and no image file is newer; what that run left half written is removed.
// @throws DataError: as open_dataset(); SpecError: fewer than kMinShards; OutputError: a shard cannot be written, or
// there are shards of a conversion into another number
formats::Conversion convert_data_set(const ConvertOptions& options);

}  // namespace chexbench::dataset
