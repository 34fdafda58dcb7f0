#include "verbs/run/conclude.hpp"

#include <algorithm>
#include <iterator>

#include "analysis/findings.hpp"
#include "verbs/run/staging_findings.hpp"

namespace chexbench::verbs {

void conclude(results::Report& report) {
  report.findings = analysis::derive_findings(report.trials);
  std::ranges::move(staging_findings(report.trials), std::back_inserter(report.findings));
}

}  // namespace chexbench::verbs
