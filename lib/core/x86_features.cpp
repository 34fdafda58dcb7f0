#include "core/x86_features.hpp"

namespace chexbench {

X86Features x86_features() {
  X86Features features;
  features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vbmi");
  features.avx512_bf16 = features.avx512 && __builtin_cpu_supports("avx512bf16");
  return features;
}

}  // namespace chexbench
