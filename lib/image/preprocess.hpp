// Turns a decoded image into what a batch delivers: resizes, flips, scales and normalizes it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/batch.hpp"
#include "image/decoded_image.hpp"
#include "image/decoder.hpp"
#include "image/isa.hpp"
#include "spec/trial_spec.hpp"

namespace chexbench::image {

// Identifies how a trial turns an image into pixels for a network. Cached pixels can be reused by trials with an equal
// PixelSpec.
struct PixelSpec {
  int image_size = 224;  // side of the square images, in pixels
  spec::ResizeMethod resize = spec::ResizeMethod::bilinear;
  spec::Color color = spec::Color::gray;  // gray or rgb

  int channels() const { return color == spec::Color::rgb ? 3 : 1; }
  friend bool operator==(const PixelSpec&, const PixelSpec&) = default;
};

// Returns the shape of a batch of these pixels.
constexpr Deliver deliver_of(const PixelSpec& pixels) {
  return pixels.color == spec::Color::rgb ? Deliver::u8_rgb : Deliver::u8;
}

// Resizes an image and writes it into its slot of a batch, in the type that BatchShape::deliver names:
// - f32: (resized / 255 - mean[c]) / std[c] with ImageNet's mean and std, HWC: 3 channels, equal for a gray image.
// - u8: the resized gray value, rounded to the nearest integer, 1 channel. Not for color images.
// - u8_rgb: the same for red, green and blue, or three times the same value for a gray image, HWC.
// Keeps tables for the size of the last image, so consecutive images of one size are fastest. Not thread-safe: use one
// per thread.
class Preprocessor {
 public:
  virtual ~Preprocessor() = default;
  // Writes BatchShape::image_bytes() bytes to `destination`, which must be aligned to 16 bytes. `flip` mirrors the
  // image left to right.
  virtual void run(const DecodedImage& image, bool flip, std::byte* destination) = 0;
};

// Returns a preprocessor with the best implementation for this CPU. @throws SpecError as best_isa() does
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape);

// Returns one with the given implementation, for tests and benchmarks. `isa` must be supported(). All implementations
// give the same bits.
std::unique_ptr<Preprocessor> make_preprocessor(spec::ResizeMethod resize, const BatchShape& shape, Isa isa);

// Turns the bytes of an image file into the tensor that a network takes, for conversion and checking, which are not
// timed. Owns what one worker needs: the fast decoder, a preprocessor, and 64-byte aligned memory for one tensor. Not
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
