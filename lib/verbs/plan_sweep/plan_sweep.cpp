#include "verbs/plan_sweep/plan_sweep.hpp"

#include <fmt/format.h>

#include "core/json_text.hpp"

namespace chexbench::verbs {

// All texts except the reason are chexbench's or names of cuDNN's engines, and need no escaping.
std::string to_json_line(const engine::PlanTiming& timing) {
  std::string line = fmt::format(
      R"({{"network": "{}", "precision": "{}", "pattern": "{}", "shape": "{}", "engine": "{}", "ran": {}, "workspace_bytes": {})",
      timing.network, spec::to_string(timing.precision), timing.pattern, timing.shape, timing.engine, timing.ran,
      timing.workspace_bytes);
  if (timing.ran) {
    line += fmt::format(R"(, "median_us": {:.2f}, "tflops_per_s": {:.2f})", 1e6 * timing.median_s,
                        1e-12 * timing.flops_per_s);
  } else if (!timing.reason.empty()) {
    line += ", \"reason\": " + json_text(timing.reason);
  }
  return line + "}\n";
}

bool plan_sweep(const PlanSweepOptions& options, const std::function<void(const std::string&)>& write_line) {
  return engine::sweep_plans(options, [&](const engine::PlanTiming& timing) { write_line(to_json_line(timing)); });
}

}  // namespace chexbench::verbs
