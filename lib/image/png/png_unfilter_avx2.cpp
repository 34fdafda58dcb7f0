#include <immintrin.h>

#include <utility>

#include "image/png/png_unfilter.hpp"

// Switched on per function, not per file; see preprocess_rows_avx2.cpp for the reason.
#define CHEXBENCH_AVX2 [[gnu::target("avx2")]]
#define CHEXBENCH_AVX2_INLINE [[gnu::target("avx2"), gnu::always_inline]] inline

namespace chexbench::image {
namespace {

// The lanes are in groups of 16 bytes. Two 128-bit registers are faster than one of 256 bits, because byte shifts do
// not cross its halves.
constexpr int kGroups = 2;
constexpr int kLanes = 16 * kGroups;

CHEXBENCH_AVX2_INLINE __m128i load(const std::uint8_t* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

// Each mask has 0xff in the lanes whose filter uses its term: left (Sub, Paeth), above (Up, Paeth), all three
// neighbours (Paeth), mean (Average).
struct FilterMasks {
  __m128i left;
  __m128i above;
  __m128i paeth;
  __m128i average;
};

CHEXBENCH_AVX2_INLINE FilterMasks masks_of(const std::uint8_t* filter) {
  const __m128i filters = load(filter);
  const __m128i paeth = _mm_cmpeq_epi8(filters, _mm_set1_epi8(4));
  return {_mm_or_si128(paeth, _mm_cmpeq_epi8(filters, _mm_set1_epi8(1))),
          _mm_or_si128(paeth, _mm_cmpeq_epi8(filters, _mm_set1_epi8(2))), paeth,
          _mm_cmpeq_epi8(filters, _mm_set1_epi8(3))};
}

// Returns (left + above) / 2, rounded down, while avg_epu8 rounds up.
CHEXBENCH_AVX2_INLINE __m128i mean(__m128i left, __m128i above) {
  const __m128i odd = _mm_and_si128(_mm_xor_si128(left, above), _mm_set1_epi8(1));
  return _mm_sub_epi8(_mm_avg_epu8(left, above), odd);
}

// Computes Paeth in bytes. Let lo and hi be the smaller and the larger of left and above. If above_left <= lo, the
// result is hi; if above_left >= hi, it is lo. In between, it is that of the three which is nearest to left + above -
// above_left, at the distances d1 (from hi), d2 (from lo) and |d1 - d2| (from above_left). Saturation makes the same
// formula right in all cases. Lanes in which only one term is not masked get that term.
CHEXBENCH_AVX2_INLINE __m128i paeth(__m128i left, __m128i above, __m128i above_left) {
  const __m128i lo = _mm_min_epu8(left, above);
  const __m128i hi = _mm_max_epu8(left, above);
  const __m128i d1 = _mm_subs_epu8(above_left, lo);
  const __m128i d2 = _mm_subs_epu8(hi, above_left);
  const __m128i least = _mm_min_epu8(d1, d2);
  const __m128i between = _mm_sub_epi8(_mm_max_epu8(d1, d2), least);
  const __m128i nearer = _mm_blendv_epi8(lo, hi, _mm_cmpeq_epi8(least, d1));
  return _mm_blendv_epi8(above_left, nearer, _mm_cmpeq_epi8(_mm_min_epu8(least, between), least));
}

template <bool kAnyPaeth>
CHEXBENCH_AVX2_INLINE __m128i predict(__m128i left, __m128i above, __m128i above_left, const FilterMasks& masks) {
  const __m128i average = mean(left, above);
  const __m128i a = _mm_and_si128(left, masks.left);
  const __m128i b = _mm_and_si128(above, masks.above);
  if constexpr (kAnyPaeth) {
    const __m128i c = _mm_and_si128(above_left, masks.paeth);
    return _mm_blendv_epi8(paeth(a, b, c), average, masks.average);
  } else {
    return _mm_or_si128(_mm_or_si128(a, b), _mm_and_si128(average, masks.average));
  }
}

// Zeroes the lanes that have not reached their row yet, because the left neighbour of a row's first pixel counts as 0.
CHEXBENCH_AVX2_INLINE __m128i zero_beyond(__m128i pixels, int first_lane, int step) {
  const __m128i lane = _mm_add_epi8(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                    _mm_set1_epi8(static_cast<char>(first_lane)));
  const __m128i limit = _mm_set1_epi8(static_cast<char>(step));
  return _mm_and_si128(pixels, _mm_cmpeq_epi8(_mm_min_epu8(lane, limit), lane));
}

// Transposes two blocks of 16x16 bytes at once, one in each half of the registers. Each round interleaves register i
// with register i+8; after four rounds, byte (r, c) of a block is at (c, r).
CHEXBENCH_AVX2_INLINE void transpose16(__m256i* registers) {
  __m256i other[16];
  __m256i* from = registers;
  __m256i* to = other;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      to[2 * i] = _mm256_unpacklo_epi8(from[i], from[i + 8]);
      to[2 * i + 1] = _mm256_unpackhi_epi8(from[i], from[i + 8]);
    }
    std::swap(from, to);
  }
}

CHEXBENCH_AVX2_INLINE __m128i load_row(const WavefrontBlock& block, int begin, int lane) {
  return load(block.in[static_cast<std::size_t>(lane)] + begin - lane);
}

CHEXBENCH_AVX2_INLINE void store_row(const WavefrontBlock& block, int begin, int lane, __m128i pixels) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(block.out[static_cast<std::size_t>(lane)] + begin - lane), pixels);
}

template <bool kAnyPaeth>
[[gnu::target("avx2"), gnu::noinline]] void unfilter_rows(const WavefrontBlock& block, int width) {
  FilterMasks masks[kGroups];
  __m128i left[kGroups];
  __m128i above_left[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    masks[g] = masks_of(&block.filter[static_cast<std::size_t>(16 * g)]);
    left[g] = above_left[g] = _mm_setzero_si128();
  }
  for (int begin = 0; begin < width + kLanes - 1; begin += 16) {
    const bool starting = begin < kLanes;
    __m256i diagonals[16];
    for (int i = 0; i < 16; ++i)
      diagonals[i] = _mm256_set_m128i(load_row(block, begin, i + 16), load_row(block, begin, i));
    transpose16(diagonals);
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) {
      // One step ago, the row above, which is one lane lower, was at the column where this lane is now.
      const __m128i above[kGroups] = {_mm_slli_si128(left[0], 1), _mm_alignr_epi8(left[1], left[0], 15)};
      const __m128i filtered[kGroups] = {_mm256_castsi256_si128(diagonals[j]),
                                         _mm256_extracti128_si256(diagonals[j], 1)};
      for (int g = 0; g < kGroups; ++g) {
        __m128i pixels = _mm_add_epi8(filtered[g], predict<kAnyPaeth>(left[g], above[g], above_left[g], masks[g]));
        if (starting) pixels = zero_beyond(pixels, 16 * g, begin + j);
        above_left[g] = above[g];
        left[g] = pixels;
      }
      diagonals[j] = _mm256_set_m128i(left[1], left[0]);
    }
    transpose16(diagonals);
    for (int i = 0; i < 16; ++i) {
      if (i > 0) store_row(block, begin, i, _mm256_castsi256_si128(diagonals[i]));
      store_row(block, begin, i + 16, _mm256_extracti128_si256(diagonals[i], 1));
    }
  }
}

void unfilter_block(const WavefrontBlock& block, int width) {
  block.any_paeth ? unfilter_rows<true>(block, width) : unfilter_rows<false>(block, width);
}

// Computes prefix sums of 16 bytes in 4 steps, and carries the last byte over.
CHEXBENCH_AVX2 void unfilter_sub(const std::uint8_t* in, std::uint8_t* out, int width) {
  __m128i carry = _mm_setzero_si128();
  int x = 0;
  for (; x + 16 <= width; x += 16) {
    __m128i sum = load(in + x);
    sum = _mm_add_epi8(sum, _mm_slli_si128(sum, 1));
    sum = _mm_add_epi8(sum, _mm_slli_si128(sum, 2));
    sum = _mm_add_epi8(sum, _mm_slli_si128(sum, 4));
    sum = _mm_add_epi8(sum, _mm_slli_si128(sum, 8));
    sum = _mm_add_epi8(sum, carry);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + x), sum);
    carry = _mm_shuffle_epi8(sum, _mm_set1_epi8(15));
  }
  std::uint8_t left = x > 0 ? out[x - 1] : 0;
  for (; x < width; ++x) out[x] = left = static_cast<std::uint8_t>(in[x] + left);
}

}  // namespace

const WavefrontKernel kAvx2Wavefront = {kLanes, unfilter_block, unfilter_sub};

}  // namespace chexbench::image
