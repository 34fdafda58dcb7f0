// Describes the machine that a result came from, and gives the time of day for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace chexbench::measure {

struct Machine {
  std::string host;
  std::string cpu;                 // model name in /proc/cpuinfo
  std::string cpu_kind;            // "Cascade Lake"; empty if cpu.hpp does not know it
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

}  // namespace chexbench::measure
