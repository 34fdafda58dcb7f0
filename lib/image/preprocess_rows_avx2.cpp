#include <immintrin.h>

#include "image/preprocess_rows.hpp"

// Instruction sets are switched on per function, not per file. The flags of a file would also apply to the inline
// functions of its headers, and the linker could choose those for CPUs without AVX2.
#define CHEXBENCH_AVX2 [[gnu::target("avx2")]]

namespace chexbench::image {
namespace {

constexpr std::size_t kLanes = 8;

CHEXBENCH_AVX2 inline __m256i load_integers(const std::int32_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// Returns the byte at bit `shift` of each lane, as a float.
CHEXBENCH_AVX2 inline __m256 byte_at(__m256i bytes, const std::int32_t* shift) {
  const __m256i low_byte = _mm256_set1_epi32(0xff);
  return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srlv_epi32(bytes, load_integers(shift)), low_byte));
}

CHEXBENCH_AVX2 void interpolate(const std::uint8_t* row, const LinearColumns& columns, float* out) {
  if (columns.gather.empty()) return kPlainRows.interpolate(row, columns, out);
  for (std::size_t i = 0; i < columns.weight.size(); i += kLanes) {
    const __m256i offsets = load_integers(&columns.gather[i]);
    const __m256i bytes = _mm256_i32gather_epi32(reinterpret_cast<const int*>(row), offsets, 1);
    const __m256 left = byte_at(bytes, &columns.first_shift[i]);
    const __m256 right = byte_at(bytes, &columns.second_shift[i]);
    const __m256 step = _mm256_mul_ps(_mm256_loadu_ps(&columns.weight[i]), _mm256_sub_ps(right, left));
    _mm256_storeu_ps(out + i, _mm256_add_ps(left, step));
  }
}

CHEXBENCH_AVX2 void blend(const float* upper, const float* lower, float weight, float* out, std::size_t count) {
  const __m256 weights = _mm256_set1_ps(weight);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m256 above = _mm256_loadu_ps(upper + i);
    const __m256 step = _mm256_mul_ps(weights, _mm256_sub_ps(_mm256_loadu_ps(lower + i), above));
    _mm256_storeu_ps(out + i, _mm256_add_ps(above, step));
  }
}

CHEXBENCH_AVX2 void accumulate(const std::uint8_t* row, float weight, float* sum, std::size_t count) {
  const __m256 weights = _mm256_set1_ps(weight);
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(row + i));
    const __m256 pixels = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), _mm256_mul_ps(weights, pixels)));
  }
  kPlainRows.accumulate(row + whole, weight, sum + whole, count - whole);
}

CHEXBENCH_AVX2 void sum_area(const float* row, const AreaColumns& columns, float* out) {
  const auto padded = static_cast<std::size_t>(columns.padded);
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const __m256i start = load_integers(&columns.start[i]);
    __m256 sum = _mm256_setzero_ps();
    for (int tap = 0; tap < columns.taps; ++tap) {
      const __m256 weight = _mm256_loadu_ps(&columns.weight[static_cast<std::size_t>(tap) * padded + i]);
      sum = _mm256_add_ps(sum, _mm256_mul_ps(weight, _mm256_i32gather_ps(row + tap * columns.step, start, 4)));
    }
    _mm256_storeu_ps(out + i, sum);
  }
}

// The values of three channels in the lanes of three vectors, which hold eight pixels: lane k of vector v is channel
// (8 v + k) mod 3.
struct Lanes {
  __m256 of[3];
};

CHEXBENCH_AVX2 inline Lanes spread(const float* c) {
  return {{_mm256_setr_ps(c[0], c[1], c[2], c[0], c[1], c[2], c[0], c[1]),
           _mm256_setr_ps(c[2], c[0], c[1], c[2], c[0], c[1], c[2], c[0]),
           _mm256_setr_ps(c[1], c[2], c[0], c[1], c[2], c[0], c[1], c[2])}};
}

CHEXBENCH_AVX2 void write_f32(const float* gray, const Normalization& normalization, float* out, std::size_t count) {
  // 8 gray values become 24 outputs g0 g0 g0 g1 ...
  const __m256i pick[3] = {_mm256_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2), _mm256_setr_epi32(2, 3, 3, 3, 4, 4, 4, 5),
                           _mm256_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7)};
  const Lanes scale = spread(normalization.scale), offset = spread(normalization.offset);
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const __m256 values = _mm256_loadu_ps(gray + i);
    for (std::size_t v = 0; v < 3; ++v) {
      const __m256 scaled = _mm256_mul_ps(_mm256_permutevar8x32_ps(values, pick[v]), scale.of[v]);
      _mm256_storeu_ps(out + 3 * i + v * kLanes, _mm256_add_ps(scaled, offset.of[v]));
    }
  }
  kPlainRows.write_f32(gray + whole, normalization, out + 3 * whole, count - whole);
}

CHEXBENCH_AVX2 void write_rgb_f32(const float* rgb, const Normalization& normalization, float* out, std::size_t count) {
  const Lanes scale = spread(normalization.scale), offset = spread(normalization.offset);
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < 3 * whole; i += 3 * kLanes) {
    for (std::size_t v = 0; v < 3; ++v) {
      const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(rgb + i + v * kLanes), scale.of[v]);
      _mm256_storeu_ps(out + i + v * kLanes, _mm256_add_ps(scaled, offset.of[v]));
    }
  }
  kPlainRows.write_rgb_f32(rgb + 3 * whole, normalization, out + 3 * whole, count - whole);
}

CHEXBENCH_AVX2 void write_u8(const float* values, std::uint8_t* out, std::size_t count) {
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const __m256 half = _mm256_set1_ps(0.5f);
    const __m256i rounded = _mm256_cvttps_epi32(_mm256_add_ps(_mm256_loadu_ps(values + i), half));
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(words, words));
  }
  kPlainRows.write_u8(values + whole, out + whole, count - whole);
}

}  // namespace

const RowKernels kAvx2Rows = {interpolate, blend, accumulate, sum_area, write_f32, write_rgb_f32, write_u8};

}  // namespace chexbench::image
