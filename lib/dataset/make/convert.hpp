// Converts the image files of a split to shards (TFRecords, or WebDataset's tar files) or to one file of decoded
// pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "formats/cached_file.hpp"
#include "formats/manifest.hpp"
#include "image/decoder.hpp"
#include "image/png/png_writer.hpp"
#include "image/preprocess.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::dataset {

// With fewer shards, ranks and interleave would have too few files to share.
inline constexpr int kMinShards = 16;

struct ConvertOptions {
  std::string root;  // a folder of this machine
  spec::Split split = spec::Split::train;
  spec::DataFormat format = spec::DataFormat::tfrecord;  // a format that reads_shards(), or cached
  image::PixelSpec pixels;                               // only for cached
  int shards = 0;           // 0: as many as there are already, else one per 256 MiB and at least kMinShards
  std::size_t threads = 0;  // 0: one per usable core
  spec::DataLayout layout = spec::DataLayout::automatic;
  spec::LabelsSpec labels = {};
};

// Returns the facts about a conversion that are known before anything is written: the split, the format, and the counts
// of images, patients and bytes of image files. Thread-safe.
formats::Conversion begin_conversion(const ConvertOptions& options, const Dataset& dataset);

// Writes the shards (formats/shards.hpp) or the cached pixels (formats/cached_file.hpp) to ROOT/FORMAT, and
// SPLIT-manifest.json last. Returns the manifest's contents.
// Every image of the split that has a file is in exactly one record. The images are put into a random order with a
// fixed seed and dealt out one by one, so each shard is a random sample of the split, and the shards differ by at most
// one record. Equal input gives equal bytes. There are never more shards than images. A shard of an earlier,
// interrupted run is kept if its records are the expected ones, undamaged, and no image file is newer. Partial files of
// a killed run are removed.
// @throws DataError as open_dataset(), if the root is a URL, or if an image file cannot be read
// @throws SpecError as open_dataset(), if fewer than kMinShards are asked for, or as convert_to_cached()
// @throws OutputError if a file cannot be written, or there are shards of a conversion into another number
// @throws InterruptedError after a signal
formats::Conversion convert_data_set(const ConvertOptions& options);

// Extracts the pixels of DICOM files. Not thread-safe: use one per thread.
class DicomToPng {
 public:
  // Returns a PNG of the decoder's gray values for the file, so that both give the same tensors, and nothing else from
  // it. The result is valid until the next call. `name` is the file's name for messages.
  // @throws DataError as image::Decoder::decode()
  std::span<const std::byte> run(std::span<const std::byte> dicom, const std::string& name);

 private:
  std::unique_ptr<image::Decoder> decoder_;
  std::vector<std::uint8_t> pixels_;
  image::PngWriter writer_;
};

// Writes the file of decoded pixels, cached_path(), and returns the contents of its manifest, which the caller writes.
// `dataset` has the image files of the split. Images are decoded with the fast decoder, resized, and rounded like
// data.deliver u8. Equal input gives equal bytes. Until the file is complete it is called PATH.partial. It reserves its
// whole size first, so that a full disk shows at once. A conversion after an interrupted one keeps the images already
// in this file. A complete file is kept if it was made from these images and is undamaged.
// @throws SpecError if the image size is out of range or a number of shards is given
// @throws DataError if an image file cannot be read, or its name has a line break; an image that cannot be decoded is
// only a warning
// @throws OutputError if the file cannot be written, or another process is writing it
// @throws InterruptedError after a signal
formats::Conversion convert_to_cached(const ConvertOptions& options, const Dataset& dataset);

}  // namespace chexbench::dataset
