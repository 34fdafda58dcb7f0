// Chooses which implementation of a data kernel runs. All implementations give the same bits; tests run each of them.
#pragma once

#include <array>
#include <string_view>

#include "core/cpu_features.hpp"

namespace chexbench::image {

enum class Isa { plain, avx2, avx512 };

inline constexpr std::array<Isa, 3> kIsas = {Isa::plain, Isa::avx2, Isa::avx512};

constexpr std::string_view to_string(Isa isa) {
  return isa == Isa::plain ? "baseline" : isa == Isa::avx2 ? "avx2" : "avx512";
}

// Returns true if a CPU with these features runs the kernels of `isa`. Those for AVX-512 use AVX2 as well.
constexpr bool supported(Isa isa, const CpuFeatures& cpu) {
  return isa == Isa::plain || (isa == Isa::avx2 ? cpu.avx2 : cpu.avx2 && cpu.avx512);
}

// Returns the fastest implementation for a CPU with these features.
constexpr Isa best_isa(const CpuFeatures& cpu) {
  return supported(Isa::avx512, cpu) ? Isa::avx512 : supported(Isa::avx2, cpu) ? Isa::avx2 : Isa::plain;
}

// The same for this CPU, capped by CHEXBENCH_ISA. @throws SpecError if that is an unknown word
inline bool supported(Isa isa) { return supported(isa, cpu_features()); }
inline Isa best_isa() { return best_isa(cpu_features()); }

}  // namespace chexbench::image
