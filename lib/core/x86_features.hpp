// The features of an x86 CPU and its kernel, without the ceiling of CHEXBENCH_ISA.
#pragma once

namespace chexbench {

// Extensions of the instruction set, named as in /proc/cpuinfo.
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

// Queries the CPU. Thread-safe.
X86Features x86_features();

}  // namespace chexbench
