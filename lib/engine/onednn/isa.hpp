// Chooses the instruction set that the engine trains with. Free of oneDNN, so that it is known without the module.
#pragma once

#include <string>

#include "core/cpu_features.hpp"

namespace chexbench::engine::onednn {

enum class Isa { baseline, avx2, avx512 };

// Returns the best one for a CPU with these features; oneDNN may still lower it. Its kernels for AVX-512 use AVX2 and
// FMA as well.
constexpr Isa best_isa(const CpuFeatures& cpu) {
  if (!cpu.avx2 || !cpu.fma) return Isa::baseline;
  return cpu.avx512 ? Isa::avx512 : Isa::avx2;
}

// Returns "baseline", "avx2", "avx512", or "avx512, avx512_bf16, amx_bf16": the instruction set for f32, followed by
// those for bf16.
inline std::string instruction_sets(const CpuFeatures& cpu) {
  const Isa isa = best_isa(cpu);
  if (isa != Isa::avx512) return isa == Isa::avx2 ? "avx2" : "baseline";
  return std::string("avx512") + (cpu.avx512_bf16 ? ", avx512_bf16" : "") + (cpu.amx_bf16 ? ", amx_bf16" : "");
}

}  // namespace chexbench::engine::onednn
