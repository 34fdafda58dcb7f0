#include <immintrin.h>

#include <numeric>
#include <utility>

#include "image/png/png_unfilter.hpp"

// Switched on per function, not per file; see preprocess_rows_avx2.cpp for the reason.
#define CHEXBENCH_AVX512_INLINE [[gnu::target("avx2,avx512f,avx512bw,avx512vl,avx512dq"), gnu::always_inline]] inline

namespace chexbench::image {
namespace {

constexpr int kLanes = 64;

// The masks of png_unfilter_avx2.cpp, with all lanes in one register.
struct FilterMasks {
  __m512i left;
  __m512i above;
  __m512i paeth;
  __mmask64 average;
};

CHEXBENCH_AVX512_INLINE FilterMasks masks_of(const std::uint8_t* filter) {
  const __m512i filters = _mm512_loadu_si512(filter);
  const __mmask64 paeth = _mm512_cmpeq_epi8_mask(filters, _mm512_set1_epi8(4));
  return {_mm512_movm_epi8(paeth | _mm512_cmpeq_epi8_mask(filters, _mm512_set1_epi8(1))),
          _mm512_movm_epi8(paeth | _mm512_cmpeq_epi8_mask(filters, _mm512_set1_epi8(2))), _mm512_movm_epi8(paeth),
          _mm512_cmpeq_epi8_mask(filters, _mm512_set1_epi8(3))};
}

CHEXBENCH_AVX512_INLINE __m512i paeth(__m512i left, __m512i above, __m512i above_left) {
  const __m512i lo = _mm512_min_epu8(left, above);
  const __m512i hi = _mm512_max_epu8(left, above);
  const __m512i d1 = _mm512_subs_epu8(above_left, lo);
  const __m512i d2 = _mm512_subs_epu8(hi, above_left);
  const __m512i least = _mm512_min_epu8(d1, d2);
  const __m512i between = _mm512_sub_epi8(_mm512_max_epu8(d1, d2), least);
  const __m512i nearer = _mm512_mask_blend_epi8(_mm512_cmple_epu8_mask(d1, d2), lo, hi);
  return _mm512_mask_blend_epi8(_mm512_cmple_epu8_mask(least, between), above_left, nearer);
}

// Moves every byte one lane up. VBMI has one instruction for it, of the same speed here, but Skylake-SP and Cascade
// Lake lack VBMI.
CHEXBENCH_AVX512_INLINE __m512i one_lane_up(__m512i bytes) {
  const __m512i quarter_below = _mm512_alignr_epi64(bytes, _mm512_setzero_si512(), 6);
  return _mm512_alignr_epi8(bytes, quarter_below, 15);
}

template <bool kAnyPaeth>
CHEXBENCH_AVX512_INLINE __m512i predict(__m512i left, __m512i above, __m512i above_left, const FilterMasks& masks) {
  const __m512i odd = _mm512_and_si512(_mm512_xor_si512(left, above), _mm512_set1_epi8(1));
  const __m512i average = _mm512_sub_epi8(_mm512_avg_epu8(left, above), odd);
  const __m512i a = _mm512_and_si512(left, masks.left);
  const __m512i b = _mm512_and_si512(above, masks.above);
  const __m512i other = kAnyPaeth ? paeth(a, b, _mm512_and_si512(above_left, masks.paeth)) : _mm512_or_si512(a, b);
  return _mm512_mask_blend_epi8(masks.average, other, average);
}

// Transposes four blocks of 16x16 bytes at once, one in each 128-bit group of the registers. Each round interleaves
// register i with register i+8; after four rounds, byte (r, c) of a block is at (c, r).
CHEXBENCH_AVX512_INLINE void transpose16(__m512i* registers) {
  __m512i other[16];
  __m512i* from = registers;
  __m512i* to = other;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      to[2 * i] = _mm512_unpacklo_epi8(from[i], from[i + 8]);
      to[2 * i + 1] = _mm512_unpackhi_epi8(from[i], from[i + 8]);
    }
    std::swap(from, to);
  }
}

CHEXBENCH_AVX512_INLINE __m128i load_row(const WavefrontBlock& block, int begin, int lane) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(block.in[static_cast<std::size_t>(lane)] + begin - lane));
}

CHEXBENCH_AVX512_INLINE void store_row(const WavefrontBlock& block, int begin, int lane, __m128i pixels) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(block.out[static_cast<std::size_t>(lane)] + begin - lane), pixels);
}

// Turns rows into diagonals: diagonal j, of the 16 steps from `begin` on, has one pixel of each lane.
CHEXBENCH_AVX512_INLINE void load_diagonals(const WavefrontBlock& block, int begin, __m512i* diagonals) {
  for (int i = 0; i < 16; ++i) {
    __m512i rows = _mm512_castsi128_si512(load_row(block, begin, i));
    rows = _mm512_inserti32x4(rows, load_row(block, begin, i + 16), 1);
    rows = _mm512_inserti32x4(rows, load_row(block, begin, i + 32), 2);
    diagonals[i] = _mm512_inserti32x4(rows, load_row(block, begin, i + 48), 3);
  }
  transpose16(diagonals);
}

CHEXBENCH_AVX512_INLINE void store_diagonals(const WavefrontBlock& block, int begin, __m512i* diagonals) {
  transpose16(diagonals);
  for (int i = 0; i < 16; ++i) {
    if (i > 0) store_row(block, begin, i, _mm512_castsi512_si128(diagonals[i]));
    store_row(block, begin, i + 16, _mm512_extracti32x4_epi32(diagonals[i], 1));
    store_row(block, begin, i + 32, _mm512_extracti32x4_epi32(diagonals[i], 2));
    store_row(block, begin, i + 48, _mm512_extracti32x4_epi32(diagonals[i], 3));
  }
}

template <bool kAnyPaeth>
[[gnu::target("avx2,avx512f,avx512bw,avx512vl,avx512dq"), gnu::noinline]] void unfilter_rows(
    const WavefrontBlock& block, int width) {
  alignas(64) std::array<std::uint8_t, kLanes> lanes{};
  std::iota(lanes.begin(), lanes.end(), std::uint8_t{0});
  const __m512i lane = _mm512_load_si512(lanes.data());
  const FilterMasks masks = masks_of(block.filter.data());
  __m512i left = _mm512_setzero_si512();
  __m512i above_left = left;
  __m512i diagonals[16];
  for (int begin = 0; begin < width + kLanes - 1; begin += 16) {
    const bool starting = begin < kLanes;
    load_diagonals(block, begin, diagonals);
#pragma GCC unroll 16
    for (int j = 0; j < 16; ++j) {
      const __m512i above = one_lane_up(left);
      __m512i pixels = _mm512_add_epi8(diagonals[j], predict<kAnyPaeth>(left, above, above_left, masks));
      if (starting) {
        const __m512i step = _mm512_set1_epi8(static_cast<char>(begin + j));
        pixels = _mm512_maskz_mov_epi8(_mm512_cmple_epu8_mask(lane, step), pixels);
      }
      above_left = above;
      left = pixels;
      diagonals[j] = pixels;
    }
    store_diagonals(block, begin, diagonals);
  }
}

void unfilter_block(const WavefrontBlock& block, int width) {
  block.any_paeth ? unfilter_rows<true>(block, width) : unfilter_rows<false>(block, width);
}

void unfilter_sub(const std::uint8_t* in, std::uint8_t* out, int width) { kAvx2Wavefront.unfilter_sub(in, out, width); }

}  // namespace

const WavefrontKernel kAvx512Wavefront = {kLanes, unfilter_block, unfilter_sub};

}  // namespace chexbench::image
