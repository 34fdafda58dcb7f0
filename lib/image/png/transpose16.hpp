// Transposes 16x16 bytes, by SSE2, so that functions for every x86-64 can inline it.
#pragma once

#include <emmintrin.h>

namespace chexbench::image {

// Transposes rows[16] in place. Each round interleaves row i with row i+8; after four rounds, byte (r, c) is at (c, r).
[[gnu::always_inline]] inline void transpose16(__m128i* rows) {
  __m128i other[16];
  __m128i* from = rows;
  __m128i* to = other;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
      to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
    }
    __m128i* const swap = from;
    from = to;
    to = swap;
  }
}

}  // namespace chexbench::image
