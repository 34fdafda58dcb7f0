// ROC and reliability curves as CSV. Those of a run are in csv.hpp.
#pragma once

#include <string>
#include <vector>

#include "results/record.hpp"

namespace chexbench::report {

// Return the rows of labels without a trial, with a header: one row per point of a ROC curve, and one per bin.
std::string roc_csv(const std::vector<results::LabelCurves>& labels);
std::string reliability_csv(const std::vector<results::LabelCurves>& labels);

}  // namespace chexbench::report
