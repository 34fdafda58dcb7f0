// A split of a data set, ready to be read: its images, labels and shards. Pipelines and trials use only this header of
// the folder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "image/preprocess.hpp"
#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::formats {
class CachedFile;  // formats/cached_file.hpp
}

namespace chexbench::dataset {

struct Index;  // dataset/index.hpp

// One image of a split.
struct ImageEntry {
  std::string name;  // such as 00000001_000.png
  std::string path;  // in Dataset::store; empty for shards and cached pixels
  LabelBits labels;
  std::uint32_t patient = 0;
  std::uint32_t place = 0;  // the image's index in Dataset::cached; only for format cached
};

// The 14 findings of ChestX-ray14 in the order of the labels, the logits and the reports, spelled as in the published
// table, Data_Entry_2017.csv.
inline constexpr std::array<std::string_view, kNihLabels> kNihLabelNames = {
    "Atelectasis", "Cardiomegaly", "Effusion",           "Infiltration",  "Mass",
    "Nodule",      "Pneumonia",    "Pneumothorax",       "Consolidation", "Edema",
    "Emphysema",   "Fibrosis",     "Pleural_Thickening", "Hernia"};
inline constexpr std::string_view kNoFinding = "No Finding";  // the table's word for an image with none of them

// Returns these labels, which ready-made batches have, too.
std::vector<std::string> nih_label_names();
// Returns the names of `count` classes: those that are known, and "class N", counted from 1, in place of the others.
std::vector<std::string> class_names(std::vector<std::string> known, std::size_t count);

// A trial's data. `images` lists the split in the order of file names for all formats, and an ExampleId::image is an
// index into it. For images, these are the images that have a file; for cached, those among the cached pixels; for a
// format of shards, all rows of the split, with empty paths, because their bytes come from the shards. `shards` is
// empty for other formats. Several threads may read a Dataset at once.
struct Dataset {
  spec::DataFormat format = spec::DataFormat::images;
  std::vector<ImageEntry> images;
  std::vector<std::string> shards;
  std::vector<std::uint64_t> shard_bytes;  // of each shard when the data set was opened; empty: unknown
  bool partial = false;                    // the shards contain other images, too, which readers leave out
  bool compressed = false;  // the first shard is compressed, so records are copies; always false for a distant store
  std::shared_ptr<const formats::CachedFile> cached;  // only for format cached, else null
  std::uint64_t total_bytes = 0;  // of the files that will be read; estimated if a server does not report sizes
  std::shared_ptr<const storage::Store> store = storage::local_store();  // owns all paths
  // The name of each label, in the order of batches, logits and LabelBits. The same for all splits of a root.
  std::vector<std::string> label_names = nih_label_names();
  // Whether labels come from the table even if records have some, because data.labels.uncertain or data.labels.blank
  // may have been different when the records were written. A record has only 0 or 1.
  bool has_unclear_labels = false;
  // The images of split val, for validation in a training over epochs. Only for split train of layout imagenet, and
  // only if there are shards of split val; else null.
  std::shared_ptr<const Dataset> validation = nullptr;
  bool has_patients = true;  // false: the patients are unknown, so each image counts as a separate one

  int labels() const { return static_cast<int>(label_names.size()); }

  // The number of files in the sense of an op list: images for images and cached, else shards.
  std::size_t files() const { return spec::reads_shards(format) ? shards.size() : images.size(); }
};

// Opens the split of `spec.root` that the spec asks for. Returns an empty Dataset for format ready. `pixels`
// selects the file of cached pixels; other formats ignore it. Logs a warning if images of the split have no file.
// Thread-safe.
// @throws DataError if there is no such root, it has no labels, the split is empty, the requested format does not exist
// or its shards were made with other labels, or the cached pixels were made for another PixelSpec or from other images
// than the present ones. The message names the command that repairs it.
// @throws SpecError if the label table lacks a column that the spec names
Dataset open_dataset(const spec::DataSpec& spec, const image::PixelSpec& pixels = {});
// The same with an index of the root that was already read. Not for format ready.
Dataset open_dataset(const spec::DataSpec& spec, const image::PixelSpec& pixels, const Index& index);

// Reads an image file. For a large local file, the first bytes are checked before the rest is read.
// @throws DataError as Store::read(), and if the file does not begin like an image
std::span<const std::byte> read_image_file(const storage::Store& store, const std::string& path,
                                           storage::ByteBuffer& buffer);

// Reads image `image` of `dataset.images`, for a format without shards. Returns the bytes of its file (valid until the
// buffer's next use) or, for cached, a view of its 8-bit pixels, size x size, row by row (valid as long as the
// Dataset). Thread-safe with a buffer per thread.
// @throws DataError if the file cannot be read or its cached pixels are damaged
std::span<const std::byte> read_image(const Dataset& dataset, std::uint32_t image, storage::ByteBuffer& buffer);

// Returns the index in `dataset.images` of the image called `name` (a record's image/filename), or std::nullopt if
// there is none. It takes log2(images) comparisons. Thread-safe.
std::optional<std::uint32_t> find_image(const Dataset& dataset, std::string_view name);

// A data set divided into images for training and images for validation, such that no patient is in both.
struct PatientSplit {
  Dataset training;
  Dataset validation;
};

// With a share of 0, both parts are the whole data set. Otherwise puts the share `validation_share` of the patients (at
// least one, and all but one at most) with all their images into `validation`. The choice depends only on the patients'
// numbers and the share, so it is the same for every format, rank, seed and pipeline. Shards stay whole: both parts
// list all of them, and readers leave out the images that are not in their part (Dataset::partial). total_bytes is
// divided by the number of images. Thread-safe.
// @throws DataError if there are fewer than two patients
PatientSplit split_by_patient(const Dataset& dataset, double validation_share);

// Returns the images of a training over epochs. A data set with its own validation images (Dataset::validation) trains
// on all others, regardless of the share, unless that is 0; else as split_by_patient(). Thread-safe. @throws DataError
// as split_by_patient()
PatientSplit split_for_epochs(const Dataset& dataset, double validation_share);

}  // namespace chexbench::dataset
