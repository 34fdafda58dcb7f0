// Undoing PNG's row filters (None, Sub, Up, Average, Paeth; PNG specification, section 9) for one byte a pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/isa.hpp"

namespace chexbench::image {

// Vector kernels read and write this far around the rows: `rows` below has as many readable bytes before its first and
// after its last, `pixels` as many writable ones, and the rows of `pixels` lie at least kUnfilterRowGap apart.
inline constexpr std::size_t kUnfilterSlack = 128;
inline constexpr std::size_t kUnfilterRowGap = 144;

// `height` rows of 1 filter byte and `width` filtered bytes, packed.
struct FilteredRows {
  const std::uint8_t* rows = nullptr;
  int width = 0;
  int height = 0;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width) + 1; }
  const std::uint8_t* row(int y) const { return rows + static_cast<std::size_t>(y) * row_bytes(); }
};

// Where the pixels go: rows `stride` >= width + kUnfilterRowGap bytes apart. What lies between them is overwritten.
struct PixelRows {
  std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;

  std::uint8_t* row(int y) const { return pixels + static_cast<std::size_t>(y) * stride; }
};

// Keeps scratch rows between calls, so: one a thread.
class Unfilter {
 public:
  // All implementations give the same pixels. `isa` must be supported().
  explicit Unfilter(Isa isa) : isa_(isa) {}

  // The first row whose filter byte is none of PNG's (pixels then hold anything), or -1: all went well.
  int run(const FilteredRows& filtered, const PixelRows& out);

 private:
  Isa isa_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace chexbench::image
