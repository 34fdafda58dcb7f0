// Turns the bytes of an image file into the tensor that a network takes, for conversion and checking, which are not
// timed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/batch.hpp"
#include "image/decoder.hpp"
#include "image/preprocess.hpp"

namespace chexbench::image {

// Owns what one worker needs: the fast decoder, a preprocessor, and 64-byte aligned memory for one tensor. Not
// thread-safe: use one per thread.
class TensorMaker {
 public:
  // `shape` is that of a batch of one image. Images are decoded to colors for u8_rgb, else to gray.
  explicit TensorMaker(const BatchShape& shape, spec::ResizeMethod resize = spec::ResizeMethod::bilinear);

  // Returns the bytes of the tensor, which are valid until the next call. `name` is the file's name for messages.
  // @throws DataError if the image cannot be decoded
  std::span<const std::byte> run(std::span<const std::byte> bytes, const std::string& name);
  // Returns the memory of the tensor, which the caller may use between calls of run().
  std::span<std::byte> memory() { return {memory_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Preprocessor> preprocessor_;
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace chexbench::image
