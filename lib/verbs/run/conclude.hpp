// Ends a run: derives its findings.
#pragma once

#include "results/record.hpp"

namespace chexbench::verbs {

// Sets report.findings to what the measured trials and the staging records of their data sets say.
void conclude(results::Report& report);

}  // namespace chexbench::verbs
