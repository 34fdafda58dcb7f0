// Turns a record into an image in the slot of a batch: reads, parses, decodes and resizes it, and times each part. Also
// the random flips and crops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/batch.hpp"
#include "image/decoded_image.hpp"
#include "image/decoder.hpp"
#include "image/preprocess.hpp"
#include "pipeline/op.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::pipeline {

// Keeps a decoder and buffers between calls, so it is not thread-safe: each worker thread has its own. Books times,
// bytes and images to the op that it works for, which must outlive it.
class ImageLoader {
 public:
  explicit ImageLoader(Op& op);

  struct Loaded {
    LabelBits labels;
    ExampleId id;
  };
  // Decodes and preprocesses the image of `record` and writes it to `destination`, which has BatchShape::image_bytes()
  // bytes and is aligned to 16 bytes. If the context augments, flip and crop follow from the image and `epoch`.
  // @throws DataError if the image cannot be read, parsed or decoded; the message names the file, the reason and, if it
  // is known, the offset
  Loaded load(const Record& record, std::uint32_t epoch, std::byte* destination);

  // Returns the index of the record's image in Dataset::images, without decoding it. Its checksum is compared then.
  // @throws DataError if the record is damaged or cannot be parsed, or its image is not in the split
  std::uint32_t image_of(Record& record);

 private:
  struct Source {
    std::span<const std::byte> encoded;
    const std::string* name = nullptr;
    Loaded loaded;
  };
  Source open(const Record& record);
  image::DecodedImage decode(const Source& source, const Record& record);
  void preprocess(const image::DecodedImage& image, const ExampleId& id, std::byte* destination);
  Source parse(const Record& record);

  Op& op_;
  std::unique_ptr<image::Decoder> decoder_;
  std::unique_ptr<image::Preprocessor> preprocessor_;
  storage::ByteBuffer file_bytes_;
};

// The loaders of an op's workers. Each is made when it is first used and kept between epochs with its buffers.
// Different workers may call of() at the same time, each with its own index.
class LoaderSet {
 public:
  LoaderSet(Op& op, std::size_t workers) : op_(op), loaders_(workers) {}
  // The loader of this worker, owned by the set.
  // @throws DataError if the decoder that the spec asks for is missing
  ImageLoader& of(std::size_t worker);
  std::size_t size() const { return loaders_.size(); }

 private:
  Op& op_;
  std::vector<std::unique_ptr<ImageLoader>> loaders_;
};

// Random flips and crops: how an image differs from epoch to epoch. Each choice depends only on the seed, the image and
// the epoch, not on the image's position in the order, so all pipelines make the same choices. The functions below
// are thread-safe.

// Whether the image is mirrored left to right in this epoch. The probability is 1/2.
bool is_flipped(std::uint64_t seed, const ExampleId& id);

// Returns a view of `image`: a window at a random position whose width and height are `share` of the image's, rounded
// to whole pixels (at least one). `share` is in (0, 1]; with 1 the window is the whole image.
image::DecodedImage random_window(const image::DecodedImage& image, double share, std::uint64_t seed,
                                  const ExampleId& id);
// Returns a view of a window of 8 to 100 % of the image's area, with width / height from 3/4 to 4/3 (its logarithm is
// uniform), at a random position: torchvision's RandomResizedCrop with its defaults. If none of ten draws lies inside
// of the image, the window is the largest one in its middle of such a shape.
image::DecodedImage random_resized_window(const image::DecodedImage& image, std::uint64_t seed, const ExampleId& id);
// Returns a view of the window of random_window()'s size in the middle of the image.
image::DecodedImage middle_window(const image::DecodedImage& image, double share);

}  // namespace chexbench::pipeline
