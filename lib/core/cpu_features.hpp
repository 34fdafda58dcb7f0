// What this CPU can do, for kernels chosen at run time. CHEXBENCH_ISA=baseline|avx2|avx512 lowers it, for tests and
// for telling one path's speed from another's.
#pragma once

#include <string>

namespace chexbench {

struct CpuFeatures {
  bool avx2 = false;         // AVX2 and FMA
  bool avx512 = false;       // F, BW, VL, DQ and VBMI
  bool avx512_bf16 = false;  // bf16 training is worthwhile
  std::string model;         // as /proc/cpuinfo names it
};

// Read once, at the first call. Thread-safe. @throws SpecError where CHEXBENCH_ISA holds another word
const CpuFeatures& cpu_features();

}  // namespace chexbench
