// Describes the machine that a result came from and its CPUs, and gives the time of day for reports.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cpu_features.hpp"
#include "measure/system_files.hpp"

namespace chexbench::measure {

struct Machine {
  std::string host;
  std::string cpu;                 // model name in /proc/cpuinfo
  std::string cpu_kind;            // "Cascade Lake"; empty if find_cpu_kind() does not know it
  int cores = 0;                   // that this process may run on
  std::uint64_t memory_bytes = 0;  // of the whole machine
  std::string kernel;              // "Linux 6.1.0"
  // Instruction sets of its CPU that programs cannot use, each with the reason: "AMX (the hypervisor hides it)".
  std::vector<std::string> unused_instruction_sets;
};

// Takes milliseconds because it reads the CPU topology: call it once per run. Thread-safe.
// @throws SpecError if the environment variable CHEXBENCH_ISA is an unknown word
Machine probe_machine();

// Returns the current time in UTC as ISO 8601: "2026-11-21T06:04:45Z".
std::string utc_now();

// Returns the seconds since 1970 in UTC. This is a time of day, which may jump; measure durations with now_s().
double unix_now_s();

// A generation and the instruction sets that all of its CPUs have. All known generations have AVX2.
struct CpuKind {
  std::string name;  // "Cascade Lake"
  bool avx512 = false;
  bool avx512_bf16 = false;
  bool amx = false;
};

// Finds the kind in the text of /proc/cpuinfo. AMD's desktop CPUs, and Intel's Core X, are named like the servers of
// their generation. std::nullopt for Intel's other desktop CPUs, for CPUs newer or older than the table, and on other
// architectures. Pure.
std::optional<CpuKind> find_cpu_kind(const std::string& cpuinfo);

// Returns "AMX (the hypervisor hides it)" for each instruction set that a CPU of this kind has and kernels cannot use,
// with the reason: CHEXBENCH_ISA (`used` is below `offered`), the build, or the machine. Pure.
std::vector<std::string> unused_instruction_sets(const CpuKind& kind, const X86Features& offered,
                                                 const CpuFeatures& used, bool virtual_machine);

// The CPUs that are online, as the kernel numbers them, with their frequency governors and the current load. A count is
// 0, and a list or text empty, if the kernel does not report it.
struct CpuLayout {
  int sockets = 0;
  int physical_cores = 0;
  int hardware_threads = 0;
  std::vector<std::vector<int>> numa_nodes;  // the CPUs of each node that has any, ordered by node number
  std::map<std::string, int> governors;      // frequency governor -> number of CPUs that it controls
  std::string turbo;                         // "on" or "off"
  std::string smt;                           // the kernel's word: "on", "off", "forceoff", "notsupported"
  // "on", or "off for meltdown, spectre_v2": the flaws that the kernel leaves this CPU vulnerable to. Which of several
  // mitigations of a flaw is on is not recorded.
  std::string mitigations;
  // The one-minute load average: runnable and blocked threads of the whole machine.
  std::optional<double> load;
};

// Reads sysfs; tests can substitute a folder. Thread-safe.
CpuLayout probe_cpu_layout(const SystemRoots& roots = {});

}  // namespace chexbench::measure
