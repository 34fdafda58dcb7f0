// What each of several steps from one pipeline to another is worth.
#pragma once

#include <vector>

#include "report/record.hpp"

namespace chexbench::report {

// Of each three or more trials that differ in their pipeline alone: each against the one before it, in their order.
// Kind: ablation.
std::vector<Finding> ablation_findings(const std::vector<const TrialResult*>& trials);

}  // namespace chexbench::report
