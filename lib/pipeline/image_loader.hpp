// From a record to the slot of a batch: read, parse, decode, resize, each timed.
#pragma once

#include <memory>
#include <span>

#include "image/decoder.hpp"
#include "image/preprocess.hpp"
#include "pipeline/op.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::pipeline {

// Keeps a decoder and buffers: one a worker thread. Books its times, bytes and images to the op it works for.
class ImageLoader {
 public:
  explicit ImageLoader(Op& op);

  struct Loaded {
    LabelBits labels;
    ExampleId id;
  };
  // Writes the image to `destination` (BatchShape::image_bytes(), aligned to 16).
  // @throws DataError naming the file, the offset where that is known, and the reason
  Loaded load(const Record& record, std::uint32_t epoch, std::byte* destination);

  // Which image the record is, without decoding it. @throws DataError as load()
  std::uint32_t image_of(const Record& record);

 private:
  struct Source {
    std::span<const std::byte> encoded;
    const std::string* name = nullptr;
    Loaded loaded;
  };
  Source open(const Record& record);
  image::GrayImage decode(const Source& source, const Record& record);
  void preprocess(const image::GrayImage& image, const ExampleId& id, std::byte* destination);
  Source parse(const Record& record);

  Op& op_;
  std::unique_ptr<image::Decoder> decoder_;
  std::unique_ptr<image::Preprocessor> preprocessor_;
  storage::ByteBuffer file_bytes_;
};

// Loaders for the workers of an op, made when first used and kept between epochs with their buffers.
// Distinct workers may use it at the same time.
class LoaderSet {
 public:
  LoaderSet(Op& op, std::size_t workers) : op_(op), loaders_(workers) {}
  // @throws DataError where the decoder that the spec asks for is missing
  ImageLoader& of(std::size_t worker);
  std::size_t size() const { return loaders_.size(); }

 private:
  Op& op_;
  std::vector<std::unique_ptr<ImageLoader>> loaders_;
};

}  // namespace chexbench::pipeline
