// The vector method of unfiltering, with one kernel per instruction set.
//
// Average and Paeth predict a pixel from its left neighbour, so the pixels of a row must be computed in sequence. A
// diagonal can be computed in parallel, because row y at column x needs row y-1 only up to column x. So a vector holds
// one pixel of each of `lanes` rows, and each row is one column behind the row above it. Lane 0 passes the finished row
// above the block through, and lanes 1 to lanes-1 are the next rows. Transposes of 16x16 bytes turn rows into such
// vectors.
#pragma once

#include <array>
#include <cstdint>

namespace chexbench::image {

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
