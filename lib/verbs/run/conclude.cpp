#include "verbs/run/conclude.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/commands.hpp"
#include "analysis/economics.hpp"
#include "analysis/findings.hpp"
#include "analysis/input_findings.hpp"
#include "dataset/make/stage.hpp"
#include "results/labels.hpp"
#include "results/rates.hpp"
#include "spec/keys.hpp"
#include "spec/resolved.hpp"
#include "storage/url.hpp"

namespace chexbench::verbs {
namespace {

// Returns the cost of staging the trial's data set. Only a folder of this machine can have one.
std::optional<dataset::StagingCost> cost_of(const results::TrialResult& trial) {
  const spec::DataSpec& spec = trial.spec.data;
  if (spec.format == spec::DataFormat::ready || spec::is_distant(trial.spec)) return {};
  return dataset::staging_cost(spec.root, spec.split, spec.format);
}

void leave_out_place(spec::TrialSpec& spec) {
  spec.data.root.clear();
  spec.data.store = {};
}

bool is_from(const results::TrialResult& far, const results::TrialResult& near, const std::string& from) {
  if (far.repeats.empty() || near.repeats.empty()) return false;
  return storage::without_last_slash(far.spec.data.root) == from;
}

results::Finding finding(const results::TrialResult& far, const results::TrialResult& near,
                         const dataset::StagingCost& cost, const analysis::Economics& economics) {
  const double epoch_s = static_cast<double>(far.data.images) / results::median_rate(far);
  results::Finding finding = analysis::payment("staging", economics, epoch_s);
  finding.text = fmt::format(
      "{}: staging from {} took {:.1f} s and {:.2f} GB for {} images, and the copy saves {} of an epoch of {:.1f} s: "
      "{}.",
      results::marked(near), cost.from, cost.seconds, 1e-9 * static_cast<double>(cost.bytes), cost.images,
      analysis::saving_text(economics), epoch_s, analysis::epochs_text(economics));
  finding.emulated = near.emulated;
  finding.trial = near.name;
  return finding;
}

// Returns one finding of kind "economics" for each pair of measured trials that differ only in data.root and
// data.store, if one root's record shows that it was staged from the other. Reads these records from disk.
std::vector<results::Finding> staging_findings(const std::vector<results::TrialResult>& trials) {
  std::vector<results::Finding> findings;
  spec::Alike alike(leave_out_place);
  for (const results::TrialResult& trial : trials) alike.add(trial.spec);
  for (const results::TrialResult& near : trials) {
    const auto cost = cost_of(near);
    if (!cost) continue;
    for (const std::size_t index : alike.with(near.spec)) {
      const results::TrialResult& far = trials[index];
      if (!is_from(far, near, cost->from)) continue;
      const auto economics = analysis::pay_back(far, near, {.seconds = cost->seconds, .images = cost->images});
      if (economics) findings.push_back(finding(far, near, *cost, *economics));
    }
  }
  return findings;
}

}  // namespace

void conclude(results::Report& report) {
  std::vector<results::Finding> planned = std::move(report.findings);
  report.findings = analysis::derive_findings(report.trials);
  std::ranges::move(staging_findings(report.trials), std::back_inserter(report.findings));
  std::ranges::move(analysis::cpu_findings(report), std::back_inserter(report.findings));
  std::ranges::move(planned, std::back_inserter(report.findings));
  for (results::Finding& finding : report.findings)
    finding.command = analysis::with_spec_of(report.environment, finding.command);
}

}  // namespace chexbench::verbs
