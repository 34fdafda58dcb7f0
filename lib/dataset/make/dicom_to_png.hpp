// Takes the pixels out of DICOM files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "image/decoder.hpp"
#include "image/png/png_writer.hpp"

namespace chexbench::dataset {

// Not thread-safe: use one per thread.
class DicomToPng {
 public:
  // Returns a PNG of the gray values that the decoder makes of the file, so that both give the same tensors, and
  // nothing else of it. The result is valid until the next call. `name` is the file's name for messages.
  // @throws DataError as image::Decoder::decode()
  std::span<const std::byte> run(std::span<const std::byte> dicom, const std::string& name);

 private:
  std::unique_ptr<image::Decoder> decoder_;
  std::vector<std::uint8_t> pixels_;
  image::PngWriter writer_;
};

}  // namespace chexbench::dataset
