#include "image/png/png_unfilter.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace chexbench::image {
namespace {

constexpr std::uint8_t kNone = 0;
constexpr std::uint8_t kSub = 1;
constexpr std::uint8_t kUp = 2;
constexpr std::uint8_t kAverage = 3;
constexpr std::uint8_t kPaeth = 4;

std::uint8_t paeth(int left, int above, int above_left) {
  const int estimate = left + above - above_left;
  const int to_left = std::abs(estimate - left);
  const int to_above = std::abs(estimate - above);
  const int to_above_left = std::abs(estimate - above_left);
  if (to_left <= to_above && to_left <= to_above_left) return static_cast<std::uint8_t>(left);
  return static_cast<std::uint8_t>(to_above <= to_above_left ? above : above_left);
}

void add_above(const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out, int width) {
  for (int x = 0; x < width; ++x) out[x] = static_cast<std::uint8_t>(in[x] + above[x]);
}

void unfilter_row(std::uint8_t filter, const std::uint8_t* in, const std::uint8_t* above, std::uint8_t* out,
                  int width) {
  int left = 0;
  int above_left = 0;
  switch (filter) {
    case kNone:
      std::memcpy(out, in, static_cast<std::size_t>(width));
      break;
    case kSub:
      for (int x = 0; x < width; ++x) out[x] = static_cast<std::uint8_t>(left = (in[x] + left) & 0xff);
      break;
    case kUp:
      add_above(in, above, out, width);
      break;
    case kAverage:
      for (int x = 0; x < width; ++x) out[x] = static_cast<std::uint8_t>(left = (in[x] + (left + above[x]) / 2) & 0xff);
      break;
    case kPaeth:
      for (int x = 0; x < width; ++x) {
        left = (in[x] + paeth(left, above[x], above_left)) & 0xff;
        above_left = above[x];
        out[x] = static_cast<std::uint8_t>(left);
      }
      break;
    default:
      break;
  }
}

int run_plain(const FilteredRows& filtered, const PixelRows& out, const std::uint8_t* zeros) {
  for (int y = 0; y < filtered.height; ++y) {
    const std::uint8_t* const in = filtered.row(y);
    if (in[0] > kPaeth) return y;
    unfilter_row(in[0], in + 1, y > 0 ? out.row(y - 1) : zeros, out.row(y), filtered.width);
  }
  return -1;
}

// Fills `block` with the rows from `y` on. Returns the first row whose filter byte is unknown, or -1.
int gather_block(const FilteredRows& filtered, const PixelRows& out, int y, const std::uint8_t* above,
                 std::uint8_t* trash, int lanes, WavefrontBlock& block) {
  block.in[0] = above;
  block.filter[0] = kNone;
  block.any_paeth = false;
  for (int lane = 1; lane < lanes; ++lane) {
    const auto slot = static_cast<std::size_t>(lane);
    const int row = std::min(y + lane - 1, filtered.height - 1);
    const bool beyond_last_row = y + lane - 1 > row;
    const std::uint8_t filter = filtered.row(row)[0];
    if (filter > kPaeth) return row;
    block.in[slot] = filtered.row(row) + 1;
    block.out[slot] = beyond_last_row ? trash : out.row(row);
    block.filter[slot] = beyond_last_row ? kNone : filter;
    block.any_paeth = block.any_paeth || block.filter[slot] == kPaeth;
  }
  return -1;
}

int run_wavefront(const WavefrontKernel& kernel, const FilteredRows& filtered, const PixelRows& out,
                  const std::uint8_t* zeros, std::uint8_t* trash) {
  WavefrontBlock block;
  for (int y = 0; y < filtered.height;) {
    const std::uint8_t* const in = filtered.row(y);
    const std::uint8_t* const above = y > 0 ? out.row(y - 1) : zeros;
    if (in[0] > kPaeth) return y;
    if (in[0] == kSub) {
      kernel.unfilter_sub(in + 1, out.row(y++), filtered.width);
    } else if (in[0] <= kUp) {
      unfilter_row(in[0], in + 1, above, out.row(y++), filtered.width);
    } else {
      const int unknown = gather_block(filtered, out, y, above, trash, kernel.lanes, block);
      if (unknown >= 0) return unknown;
      kernel.unfilter_block(block, filtered.width);
      y += kernel.lanes - 1;
    }
  }
  return -1;
}

}  // namespace

int Unfilter::run(const FilteredRows& filtered, const PixelRows& out) {
  // The scratch has a row of zeros, which is above the first row, and a write-only row, each with slack on both sides.
  const std::size_t row = static_cast<std::size_t>(filtered.width) + 2 * kUnfilterSlack;
  if (scratch_.size() < 2 * row) scratch_.resize(2 * row);
  std::uint8_t* const zeros = scratch_.data() + kUnfilterSlack;
  std::uint8_t* const trash = zeros + row;
  std::memset(zeros, 0, static_cast<std::size_t>(filtered.width));
  if (isa_ == Isa::plain) return run_plain(filtered, out, zeros);
  return run_wavefront(isa_ == Isa::avx2 ? kAvx2Wavefront : kAvx512Wavefront, filtered, out, zeros, trash);
}

}  // namespace chexbench::image
