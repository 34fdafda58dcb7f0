#include "report/ablation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "report/rates.hpp"
#include "report/starvation.hpp"

namespace chexbench::report {
namespace {

using Group = std::vector<const TrialResult*>;

bool differ_in_pipeline_alone(const TrialResult& a, const TrialResult& b) {
  spec::Experiment like_b = a.spec;
  like_b.pipeline = b.spec.pipeline;
  return like_b == b.spec;
}

std::string step(const TrialResult& trial, const TrialResult& before) {
  const auto ratio = paired_rates(trial, before);
  if (!ratio) return fmt::format("{} (not measured in turn)", trial.spec.pipeline.name);
  const std::string interval =
      ratio->ci95 ? fmt::format(" ({:.2f} to {:.2f})", ratio->ci95->low, ratio->ci95->high) : "";
  return fmt::format("{} {:.2f} x{}", trial.spec.pipeline.name, ratio->value, interval);
}

Finding finding(const Group& group) {
  const TrialResult& first = *group.front();
  const TrialResult& last = *group.back();
  const std::string where = fmt::format("{}, {} rank{}{}", spec::to_string(first.spec.data.format), first.ranks,
                                        first.ranks == 1 ? "" : "s", first.emulated ? " (emulated)" : "");
  std::string text = fmt::format("Step by step over {}, each against the one before (95 % interval): {} {} images/s",
                                 where, first.spec.pipeline.name, rate(median_rate(first)));
  for (std::size_t i = 1; i < group.size(); ++i) text += "; " + step(*group[i], *group[i - 1]);
  text += fmt::format("; all together {} images/s.", rate(median_rate(last)));
  return {.kind = "ablation", .text = std::move(text), .emulated = first.emulated};
}

}  // namespace

std::vector<Finding> ablation_findings(const std::vector<const TrialResult*>& trials) {
  std::vector<Group> groups;
  for (const TrialResult* trial : trials) {
    if (trial->repeats.empty()) continue;
    const auto same = std::ranges::find_if(
        groups, [&](const Group& group) { return differ_in_pipeline_alone(*group.front(), *trial); });
    if (same == groups.end()) {
      groups.push_back({trial});
    } else {
      same->push_back(trial);
    }
  }
  std::vector<Finding> findings;
  for (const Group& group : groups) {
    if (group.size() >= 3) findings.push_back(finding(group));
  }
  return findings;
}

}  // namespace chexbench::report
