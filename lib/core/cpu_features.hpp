// The instruction sets by which kernels are chosen at run time. Each kernel checks only those that it needs. The
// environment variable CHEXBENCH_ISA (baseline, avx2 or avx512) is a ceiling for all of them, for tests and for
// comparing the speeds of code paths.
#pragma once

#include <string>
#include <string_view>

namespace chexbench {

// The extensions of an x86 CPU and its kernel, named as in /proc/cpuinfo, without the ceiling of CHEXBENCH_ISA.
struct X86Features {
  bool compiled = false;  // This build has kernels for these extensions; if not, the others are false, too.
  bool avx2 = false;
  bool fma = false;
  bool avx512f = false;
  bool avx512bw = false;
  bool avx512dq = false;
  bool avx512vl = false;
  bool avx512_bf16 = false;
  bool amx_tile = false;
  bool amx_bf16 = false;
};

X86Features x86_features();  // queries the CPU; thread-safe

struct CpuFeatures {
  bool avx2 = false;
  bool fma = false;
  bool avx512 = false;       // AVX-512 F, BW, DQ and VL: Intel's servers since Skylake-SP, AMD's since Zen 4
  bool avx512_bf16 = false;  // avx512 and AVX512_BF16
  bool amx_bf16 = false;     // avx512_bf16 and AMX's tiles of bf16
  std::string model;         // the "model name" of /proc/cpuinfo, or "unknown"
};

// Returns the features of this CPU, detected at the first call. Thread-safe.
// @throws SpecError if CHEXBENCH_ISA has any other value
const CpuFeatures& cpu_features();

// Returns the features of `offered` up to a ceiling, with an empty model. Pure.
// @throws SpecError if `ceiling` is not one of the three words
CpuFeatures features_below(const X86Features& offered, std::string_view ceiling);

}  // namespace chexbench
