// The vector method of unfiltering, one per instruction set.
//
// Average and Paeth predict a pixel from its left neighbour, so the pixels of a row must be computed one after another.
// What can run in parallel is a diagonal: row y at column x needs row y-1 only up to column x. So a vector holds one
// pixel of each of `lanes` rows, each row one column behind the row above it. Lane 0 is the finished row above the
// block (it passes through), lanes 1... are the next lanes-1 rows; 16x16 byte transposes turn rows into such vectors.
#pragma once

#include <array>
#include <cstdint>

namespace chexbench::image {

inline constexpr int kMaxLanes = 64;

// One block of rows. Lanes without a row of the image read any row and write to scratch.
struct WavefrontBlock {
  std::array<const std::uint8_t*, kMaxLanes> in{};  // filtered bytes; [0]: pixels of the row above the block
  std::array<std::uint8_t*, kMaxLanes> out{};       // pixels; [0] is not written
  alignas(64) std::array<std::uint8_t, kMaxLanes> filter{};
  bool any_paeth = false;
};

struct WavefrontKernel {
  int lanes;
  void (*unfilter_block)(const WavefrontBlock& block, int width);
  // Filter Sub is a prefix sum within one row: no need for a wavefront.
  void (*unfilter_sub)(const std::uint8_t* in, std::uint8_t* out, int width);
};

extern const WavefrontKernel kAvx2Wavefront;    // 32 lanes
extern const WavefrontKernel kAvx512Wavefront;  // 64 lanes

}  // namespace chexbench::image
