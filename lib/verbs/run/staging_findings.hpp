// Whether it pays to stage a data set: what `data stage` took against what each epoch saves.
#pragma once

#include <vector>

#include "results/record.hpp"

namespace chexbench::verbs {

// A sentence for each two measured trials that differ in data.root and store alone, where the record in one's root says
// that it was staged from the other's. Kind: economics.
std::vector<results::Finding> staging_findings(const std::vector<results::TrialResult>& trials);

}  // namespace chexbench::verbs
