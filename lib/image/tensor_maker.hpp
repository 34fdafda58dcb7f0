// From the bytes of an image file to the tensor that a network takes: for conversion and checking, off the timed path.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/batch.hpp"
#include "image/decoder.hpp"
#include "image/preprocess.hpp"

namespace chexbench::image {

// What one worker owns: the fast decoder, a preprocessor and one tensor's memory, 64-byte aligned. Not thread-safe.
class TensorMaker {
 public:
  explicit TensorMaker(const BatchShape& shape, spec::ResizeMethod resize = spec::ResizeMethod::bilinear);

  // Valid until the next call. @throws DataError: the image cannot be decoded
  std::span<const std::byte> run(std::span<const std::byte> bytes, const std::string& name);
  // The tensor's memory, to be used otherwise between calls of run().
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
