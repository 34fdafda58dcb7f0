// Turns a decoded image into what a batch delivers: resize, flip, scale, normalize.
#pragma once

#include <cstddef>
#include <memory>

#include "core/batch.hpp"
#include "image/gray_image.hpp"
#include "image/isa.hpp"
#include "spec/experiment.hpp"

namespace chexbench::image {

// Resizes, scales to [0,1], normalizes and writes one image into a batch slot. Not thread-safe: one a thread.
// f32: value = (resized / 255 - mean[c]) / std[c], ImageNet's mean and std, 3 equal-source channels, HWC.
// u8: round to nearest of the resized gray value, 1 channel.
class Preprocessor {
 public:
  virtual ~Preprocessor() = default;
  // `destination` holds BatchShape::image_bytes() bytes, aligned to 16.
  virtual void run(const GrayImage& image, bool flip, std::byte* destination) = 0;
};

// One a thread (keeps tables and rows for the last image size).
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape);

// The same with an implementation chosen, for tests and benchmarks. `isa` must be supported(). All give the same bits.
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape, Isa isa);

}  // namespace chexbench::image
