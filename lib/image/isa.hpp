// Chooses which implementation of a data kernel runs. All implementations give the same bits; tests run each of them.
#pragma once

#include <array>
#include <string_view>

#include "core/cpu_features.hpp"

namespace chexbench::image {

enum class Isa { plain, avx2, avx512 };

inline constexpr std::array<Isa, 3> kIsas = {Isa::plain, Isa::avx2, Isa::avx512};

constexpr std::string_view to_string(Isa isa) {
  return isa == Isa::plain ? "plain" : isa == Isa::avx2 ? "avx2" : "avx512";
}

// Returns true if this CPU runs `isa` and the environment variable CHEXBENCH_ISA does not forbid it.
// @throws SpecError if CHEXBENCH_ISA holds an unknown word
inline bool supported(Isa isa) {
  const CpuFeatures& cpu = cpu_features();
  return isa == Isa::plain || (isa == Isa::avx2 ? cpu.avx2 : cpu.avx2 && cpu.avx512);
}

// Returns the fastest implementation that is supported(). @throws SpecError as above
inline Isa best_isa() { return supported(Isa::avx512) ? Isa::avx512 : supported(Isa::avx2) ? Isa::avx2 : Isa::plain; }

}  // namespace chexbench::image
