// Undoes PNG's row filters (None, Sub, Up, Average, Paeth; PNG specification, section 9) for one byte per pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/isa.hpp"

namespace chexbench::image {

// Vector kernels read and write beyond the rows. FilteredRows::rows needs kUnfilterSlack readable bytes before its
// first and after its last byte, PixelRows::pixels the same number of writable ones, and the gap between two rows of
// pixels must be at least kUnfilterRowGap bytes.
inline constexpr std::size_t kUnfilterSlack = 128;
inline constexpr std::size_t kUnfilterRowGap = 144;

// `height` packed rows, each with 1 filter byte and `width` filtered bytes.
struct FilteredRows {
  const std::uint8_t* rows = nullptr;
  int width = 0;
  int height = 0;

  std::size_t row_bytes() const { return static_cast<std::size_t>(width) + 1; }
  const std::uint8_t* row(int y) const { return rows + static_cast<std::size_t>(y) * row_bytes(); }
};

// The memory for the pixels, in rows `stride` >= width + kUnfilterRowGap bytes apart. The bytes between the rows are
// overwritten.
struct PixelRows {
  std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;

  std::uint8_t* row(int y) const { return pixels + static_cast<std::size_t>(y) * stride; }
};

// Undoes the filters of images. Not thread-safe, because it keeps scratch rows between calls: use one per thread.
class Unfilter {
 public:
  // All implementations give the same pixels. `isa` must be supported().
  explicit Unfilter(Isa isa) : isa_(isa) {}

  // Returns -1 on success, or else the first row whose filter byte is unknown; the pixels are then undefined.
  int run(const FilteredRows& filtered, const PixelRows& out);

 private:
  Isa isa_;
  std::vector<std::uint8_t> scratch_;
};

}  // namespace chexbench::image
