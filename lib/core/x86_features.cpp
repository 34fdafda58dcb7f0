#include "core/cpu_features.hpp"

#include <cpuid.h>

namespace chexbench {
namespace {

// Whether the kernel saves AMX's registers: bits 17 and 18 of XCR0, which can be read if CPUID leaf 1 has OSXSAVE (ECX
// bit 27).
bool kernel_saves_tiles() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx >> 27 & 1) == 0) return false;
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3;
}

}  // namespace

X86Features x86_features() {
  X86Features features{.compiled = true,
                       .avx2 = __builtin_cpu_supports("avx2") != 0,
                       .fma = __builtin_cpu_supports("fma") != 0,
                       .avx512f = __builtin_cpu_supports("avx512f") != 0,
                       .avx512bw = __builtin_cpu_supports("avx512bw") != 0,
                       .avx512dq = __builtin_cpu_supports("avx512dq") != 0,
                       .avx512vl = __builtin_cpu_supports("avx512vl") != 0,
                       .avx512_bf16 = __builtin_cpu_supports("avx512bf16") != 0};
  // Compilers do not share a name for AMX. Intel SDM, volume 2, CPUID leaf 7: EDX bits 22 and 24.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (kernel_saves_tiles() && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    features.amx_bf16 = (edx >> 22 & 1) != 0;
    features.amx_tile = (edx >> 24 & 1) != 0;
  }
  return features;
}

}  // namespace chexbench
