// Trials that were measured in turn.
#pragma once

#include <optional>

#include "report/record.hpp"

namespace chexbench::report {

// images/s of a to those of b, over the rounds that both have, so that what is compared was measured in turn. Nothing
// where there are none.
std::optional<measure::Ratio> paired_rates(const TrialResult& a, const TrialResult& b);

}  // namespace chexbench::report
