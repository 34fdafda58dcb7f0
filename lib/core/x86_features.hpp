// What cpu_features.hpp reports of an x86 CPU, without the cap of CHEXBENCH_ISA.
#pragma once

namespace chexbench {

struct X86Features {
  bool avx2 = false;
  bool avx512 = false;
  bool avx512_bf16 = false;
};

// Asks the CPU; on other architectures, all of them are false. Thread-safe.
X86Features x86_features();

}  // namespace chexbench
