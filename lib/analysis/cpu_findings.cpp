#include "analysis/cpu_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace chexbench::analysis {

std::vector<results::Finding> cpu_findings(const results::Report& report) {
  const results::Environment& environment = report.environment;
  const auto trains = [&](auto is_of_precision) {
    return std::ranges::any_of(report.trials, [&](const results::TrialResult& trial) {
      return trial.spec.engine == "onednn" && !trial.repeats.empty() && is_of_precision(trial.spec.training.precision);
    });
  };
  if (!trains([](spec::Precision) { return true; })) return {};
  std::vector<std::string> unused = environment.unused_instruction_sets;
  if (!trains([](spec::Precision precision) { return precision == spec::Precision::bf16; }))
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
