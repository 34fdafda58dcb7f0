#include "core/x86_features.hpp"

#include <cpuid.h>

namespace chexbench {

X86Features x86_features() {
  X86Features features{.compiled = true,
                       .avx2 = __builtin_cpu_supports("avx2") != 0,
                       .fma = __builtin_cpu_supports("fma") != 0,
                       .avx512f = __builtin_cpu_supports("avx512f") != 0,
                       .avx512bw = __builtin_cpu_supports("avx512bw") != 0,
                       .avx512dq = __builtin_cpu_supports("avx512dq") != 0,
                       .avx512vl = __builtin_cpu_supports("avx512vl") != 0,
                       .avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0};
  // Compilers have no common name for AMX. Intel SDM, volume 2, CPUID leaf 7: EDX bits 22 and 24.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    features.amx_bf16 = (edx >> 22 & 1) != 0;
    features.amx_tile = (edx >> 24 & 1) != 0;
  }
  return features;
}

}  // namespace chexbench
