// What trainings over epochs have learned, and how long that took.
#pragma once

#include <optional>
#include <vector>

#include "results/record.hpp"

namespace chexbench::analysis {

// The epoch with the highest mean AUROC, the first of several; null where none has one. Valid as long as the repeat.
const results::EpochRecord* best_epoch(const results::RepeatResult& repeat);

// The best epoch of the repeat that stands for the trial: the one whose best mean AUROC is the median (of an even
// number the lower of the middle two), so that interval and findings are those of one network. Null where there is
// none.
const results::EpochRecord* representative_epoch(const results::TrialResult& trial);

// Seconds from the begin of the training to the end of the first validation with a mean AUROC of at least
// training.target_auroc; the median over repeats. Empty where the spec names none, or a repeat did not get there.
std::optional<double> time_to_auroc_s(const results::TrialResult& trial);

// A sentence for each trial that learned, and one for each that can be told apart from the first it may be compared
// with (all alike but how images come, how many ranks share the images of a step, and how they
// communicate), or cannot.
std::vector<results::Finding> learning_findings(const std::vector<const results::TrialResult*>& trials);

}  // namespace chexbench::analysis
