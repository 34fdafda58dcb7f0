#include <immintrin.h>

#include <array>

#include "image/preprocess_rows.hpp"

// Switched on per function, not per file; see preprocess_rows_avx2.cpp for the reason.
#define CHEXBENCH_AVX512 [[gnu::target("avx512f,avx512bw,avx512vl,avx512dq")]]

namespace chexbench::image {
namespace {

constexpr std::size_t kLanes = 16;

constexpr __mmask16 first_lanes(std::size_t count) { return static_cast<__mmask16>((1u << count) - 1u); }

// Returns the byte that each lane picks out of the 128 of `low` and `high`, as a float: one permutation of their 32-bit
// words, where AVX2 must gather.
CHEXBENCH_AVX512 inline __m512 pick(__m512i low, __m512i high, const LinearColumns::Picks& picks) {
  const __m512i words = _mm512_permutex2var_epi32(low, _mm512_load_si512(picks.word), high);
  const __m512i bytes = _mm512_srlv_epi32(words, _mm512_load_si512(picks.shift));
  return _mm512_cvtepi32_ps(_mm512_and_si512(bytes, _mm512_set1_epi32(0xff)));
}

CHEXBENCH_AVX512 void interpolate(const std::uint8_t* row, const LinearColumns& columns, float* out) {
  if (columns.windows.empty()) return kAvx2Rows.interpolate(row, columns, out);
  for (const LinearColumns::Window& window : columns.windows) {
    const __m512i low = _mm512_loadu_si512(row + window.base);
    const __m512i high = _mm512_loadu_si512(row + window.base + 64);
    const __m512 left = pick(low, high, window.first);
    const __m512 right = pick(low, high, window.second);
    const auto i = static_cast<std::size_t>(&window - columns.windows.data()) * kLanes;
    const __m512 step = _mm512_mul_ps(_mm512_loadu_ps(&columns.weight[i]), _mm512_sub_ps(right, left));
    _mm512_storeu_ps(out + i, _mm512_add_ps(left, step));
  }
}

CHEXBENCH_AVX512 void blend(const float* upper, const float* lower, float weight, float* out, std::size_t count) {
  const __m512 weights = _mm512_set1_ps(weight);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __m512 above = _mm512_loadu_ps(upper + i);
    const __m512 step = _mm512_mul_ps(weights, _mm512_sub_ps(_mm512_loadu_ps(lower + i), above));
    _mm512_storeu_ps(out + i, _mm512_add_ps(above, step));
  }
}

CHEXBENCH_AVX512 void accumulate(const std::uint8_t* row, float weight, float* sum, std::size_t count) {
  const __m512 weights = _mm512_set1_ps(weight);
  const std::size_t whole = count / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + i));
    const __m512 pixels = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
    _mm512_storeu_ps(sum + i, _mm512_add_ps(_mm512_loadu_ps(sum + i), _mm512_mul_ps(weights, pixels)));
  }
  kPlainRows.accumulate(row + whole, weight, sum + whole, count - whole);
}

CHEXBENCH_AVX512 void sum_area(const float* row, const AreaColumns& columns, float* out) {
  const auto padded = static_cast<std::size_t>(columns.padded);
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const __m512i start = _mm512_loadu_si512(&columns.start[i]);
    __m512 sum = _mm512_setzero_ps();
    for (int tap = 0; tap < columns.taps; ++tap) {
      const __m512 weight = _mm512_loadu_ps(&columns.weight[static_cast<std::size_t>(tap) * padded + i]);
      sum = _mm512_add_ps(sum, _mm512_mul_ps(weight, _mm512_i32gather_ps(start, row + tap * columns.step, 4)));
    }
    _mm512_storeu_ps(out + i, sum);
  }
}

// The normalization of three vectors of values, which hold 16 pixels: lane k of vector v is channel (16 v + k) mod 3.
struct Lanes {
  explicit Lanes(const Normalization& normalization) {
    for (std::size_t k = 0; k < 3 * kLanes; ++k) {
      scale[k] = normalization.scale[k % 3];
      offset[k] = normalization.offset[k % 3];
    }
  }
  alignas(64) std::array<float, 3 * kLanes> scale;
  alignas(64) std::array<float, 3 * kLanes> offset;
};

CHEXBENCH_AVX512 inline __m512 normalized(__m512 values, const Lanes& lanes, std::size_t begin) {
  const __m512 scaled = _mm512_mul_ps(values, _mm512_load_ps(&lanes.scale[begin]));
  return _mm512_add_ps(scaled, _mm512_load_ps(&lanes.offset[begin]));
}

CHEXBENCH_AVX512 void write_f32(const float* gray, const Normalization& normalization, float* out, std::size_t count) {
  // 16 gray values become 48 outputs g0 g0 g0 g1 ...
  alignas(64) std::array<std::int32_t, 3 * kLanes> pick_lane{};
  for (std::size_t k = 0; k < 3 * kLanes; ++k) pick_lane[k] = static_cast<std::int32_t>(k / 3);
  const Lanes lanes(normalization);
  for (std::size_t i = 0; i < count; i += kLanes) {
    const std::size_t left = count - i < kLanes ? count - i : kLanes;
    const __m512 values = _mm512_maskz_loadu_ps(first_lanes(left), gray + i);
    for (std::size_t v = 0; v < 3; ++v) {
      const std::size_t begin = v * kLanes;
      if (3 * left <= begin) break;
      const std::size_t outputs = 3 * left - begin < kLanes ? 3 * left - begin : kLanes;
      const __m512 picked = _mm512_permutexvar_ps(_mm512_load_si512(&pick_lane[begin]), values);
      _mm512_mask_storeu_ps(out + 3 * i + begin, first_lanes(outputs), normalized(picked, lanes, begin));
    }
  }
}

CHEXBENCH_AVX512 void write_rgb_f32(const float* rgb, const Normalization& normalization, float* out,
                                    std::size_t count) {
  const Lanes lanes(normalization);
  for (std::size_t i = 0; i < 3 * count; i += kLanes) {
    const __mmask16 mask = first_lanes(3 * count - i < kLanes ? 3 * count - i : kLanes);
    const __m512 values = _mm512_maskz_loadu_ps(mask, rgb + i);
    _mm512_mask_storeu_ps(out + i, mask, normalized(values, lanes, i % (3 * kLanes)));
  }
}

CHEXBENCH_AVX512 void write_u8(const float* values, std::uint8_t* out, std::size_t count) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    const __mmask16 lanes = first_lanes(count - i < kLanes ? count - i : kLanes);
    const __m512 loaded = _mm512_maskz_loadu_ps(lanes, values + i);
    const __m512i rounded = _mm512_cvttps_epi32(_mm512_add_ps(loaded, _mm512_set1_ps(0.5f)));
    _mm_mask_storeu_epi8(out + i, lanes, _mm512_cvtusepi32_epi8(rounded));
  }
}

}  // namespace

const RowKernels kAvx512Rows = {interpolate, blend, accumulate, sum_area, write_f32, write_rgb_f32, write_u8};

}  // namespace chexbench::image
