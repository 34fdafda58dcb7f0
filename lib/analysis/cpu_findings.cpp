#include "analysis/cpu_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace chexbench::analysis {

std::vector<results::Finding> cpu_findings(const results::Report& report) {
  const results::Environment& environment = report.environment;
  bool trains = false, trains_in_bf16 = false;
  for (const results::TrialResult& trial : report.trials) {
    if (trial.spec.engine != "onednn" || trial.repeats.empty()) continue;
    trains = true;
    trains_in_bf16 = trains_in_bf16 || trial.spec.training.precision == spec::Precision::bf16;
  }
  if (!trains) return {};
  std::vector<std::string> unused = environment.unused_instruction_sets;
  if (!trains_in_bf16)
    std::erase_if(unused,
                  [](const std::string& set) { return set.starts_with("AVX512_BF16") || set.starts_with("AMX"); });
  if (unused.empty()) return {};
  const std::string sets = fmt::format("{}", fmt::join(unused, ", "));
  return {
      {.kind = "unused_instructions",
       .text =
           fmt::format("The CPU ({}) has instruction sets that training did not use: {}.", environment.cpu_kind, sets),
       .headline =
           fmt::format("The CPU is {}, but training did not use all of its instruction sets", environment.cpu_kind),
       .reason = fmt::format("Not used: {}.", sets),
       .advice = "Unset CHEXBENCH_ISA if it rules a set out; if a hypervisor hides one, ask for a virtual machine that "
                 "passes the host's CPU through."}};
}

}  // namespace chexbench::analysis
