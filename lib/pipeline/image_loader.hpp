// Turns a record into an image in the slot of a batch: reads, parses, decodes and resizes it, and times each part.
#pragma once

#include <memory>
#include <span>

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

}  // namespace chexbench::pipeline
