// Undoes PNG's row filters (None, Sub, Up, Average, Paeth; PNG specification, section 9) for one byte per pixel.
#pragma once

#include <array>
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

// The vector method of unfiltering, with one kernel per instruction set.
//
// Average and Paeth predict a pixel from its left neighbour, so the pixels of a row must be computed in sequence. A
// diagonal can be computed in parallel, because row y at column x needs row y-1 only up to column x. So a vector holds
// one pixel of each of `lanes` rows, and each row is one column behind the row above it. Lane 0 passes the finished row
// above the block through, and lanes 1 to lanes-1 are the next rows. Transposes of 16x16 bytes turn rows into such
// vectors.

inline constexpr int kMaxLanes = 64;

// One block of rows. Lanes without a row of the image read the last row and write to scratch memory.
struct WavefrontBlock {
  std::array<const std::uint8_t*, kMaxLanes> in{};  // filtered bytes; [0] has the pixels of the row above the block
  std::array<std::uint8_t*, kMaxLanes> out{};       // pixels; [0] is not written
  alignas(64) std::array<std::uint8_t, kMaxLanes> filter{};
  bool any_paeth = false;
};

struct WavefrontKernel {
  int lanes;
  void (*unfilter_block)(const WavefrontBlock& block, int width);
  // Filter Sub is a prefix sum within one row, so it needs no wavefront.
  void (*unfilter_sub)(const std::uint8_t* in, std::uint8_t* out, int width);
};

extern const WavefrontKernel kAvx2Wavefront;    // 32 lanes
extern const WavefrontKernel kAvx512Wavefront;  // 64 lanes

}  // namespace chexbench::image
