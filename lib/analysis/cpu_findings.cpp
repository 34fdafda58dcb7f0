#include "analysis/cpu_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace chexbench::analysis {

std::vector<results::Finding> cpu_findings(const results::Report& report) {
  const results::Environment& environment = report.environment;
  const bool trains_on_cpu = std::ranges::any_of(report.trials, [](const results::TrialResult& trial) {
    return trial.spec.engine == "onednn" && !trial.repeats.empty();
  });
  if (!trains_on_cpu || environment.unused_instruction_sets.empty()) return {};
  const std::string sets = fmt::format("{}", fmt::join(environment.unused_instruction_sets, ", "));
  return {{.kind = "unused_instructions",
           .text = fmt::format("The CPU ({}) has instruction sets that training did not use: {}.", environment.cpu_kind,
                               sets),
           .headline =
               fmt::format("The CPU is {}, but training did not use all of its instruction sets", environment.cpu_kind),
           .reason = fmt::format("Not used: {}.", sets),
           .advice = "Unset CHEXBENCH_ISA, or ask for a virtual machine that passes the host's CPU through."}};
}

}  // namespace chexbench::analysis
