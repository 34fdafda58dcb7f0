// Reports the instruction sets of this CPU, by which kernels are chosen at run time. The environment variable
// CHEXBENCH_ISA (baseline, avx2 or avx512) caps them, for tests and for comparing the speeds of code paths.
#pragma once

#include <string>

namespace chexbench {

struct CpuFeatures {
  bool avx2 = false;         // AVX2 and FMA
  bool avx512 = false;       // AVX-512 F, BW, VL, DQ and VBMI, all of them
  bool avx512_bf16 = false;  // avx512 and AVX512_BF16: training in bf16 is worthwhile
  std::string model;         // the "model name" of /proc/cpuinfo, or "unknown"
};

// Returns the features, which are detected once, at the first call. Thread-safe.
// @throws SpecError if CHEXBENCH_ISA holds any other word
const CpuFeatures& cpu_features();

}  // namespace chexbench
