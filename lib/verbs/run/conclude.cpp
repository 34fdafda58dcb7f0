#include "verbs/run/conclude.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "analysis/commands.hpp"
#include "analysis/cpu_findings.hpp"
#include "analysis/findings.hpp"
#include "verbs/run/staging_findings.hpp"

namespace chexbench::verbs {

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
