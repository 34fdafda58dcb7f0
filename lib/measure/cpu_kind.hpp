// Which generation of CPUs this one is of, and which of its instruction sets programs cannot use here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"

namespace chexbench::measure {

// A generation and the instruction sets that all of its CPUs have. AVX2 is common to all that are known here.
struct CpuKind {
  std::string name;  // "Cascade Lake"
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool amx = false;
};

// Finds the kind in the text of /proc/cpuinfo. Desktop CPUs of AMD, and Intel's Core X, have the name of the servers of
// their generation. std::nullopt for Intel's other desktop CPUs, for those younger or older than the table, and on
// other architectures. Pure.
std::optional<CpuKind> find_cpu_kind(const std::string& cpuinfo);

// Returns "AMX (the hypervisor hides it)" for each instruction set that a CPU of this kind has and kernels cannot use,
// with the reason: CHEXBENCH_ISA (`used` is below `offered`), the build, or the machine. Pure.
std::vector<std::string> unused_instruction_sets(const CpuKind& kind, const X86Features& offered,
                                                 const CpuFeatures& used, bool virtual_machine);

}  // namespace chexbench::measure
