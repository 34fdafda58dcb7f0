// Evaluates trainings over epochs: how well the network predicts, and how long that took to reach.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/batch.hpp"
#include "results/record.hpp"

namespace chexbench::analysis {

// The measure of how well an epoch's network predicts: the mean AUROC or, for exclusive classes, the top-1 accuracy.
struct Quality {
  const char* name = "";  // "mean AUROC"
  double value = 0;
  std::optional<measure::Interval> ci95;
};
// Returns std::nullopt if the epoch has neither.
std::optional<Quality> quality_of(const results::EpochRecord& epoch);

// Returns the epoch of the highest quality, or the first of several such epochs. Returns null if no epoch has one. The
// result points into `repeat`.
const results::EpochRecord* best_epoch(const results::RepeatResult& repeat);

// Returns the best epoch of the repeat that represents the trial, which is the one whose best quality is the median
// (of an even number, the lower of the middle two). Picking one repeat instead of averaging keeps the interval and the
// scores of one network together. Returns null if no repeat has one. The result points into `trial`.
const results::EpochRecord* representative_epoch(const results::TrialResult& trial);

// The spread of the best mean AUROCs of a trial's repeats: the effect of another order of images and other flips.
struct AurocSpread {
  int repeats = 0;  // with a mean AUROC
  double best = 0, worst = 0;
  int best_repeat = 0;   // from 0, as in the name of its checkpoint folder
  double deviation = 0;  // sample standard deviation
};

// Returns std::nullopt if fewer than two repeats have a mean AUROC.
std::optional<AurocSpread> auroc_spread(const results::TrialResult& trial);

// Returns the seconds from the start of the training to the end of the first validation with a mean AUROC of at least
// training.target_auroc, as the median over repeats. Returns std::nullopt if the spec has no target, or if a repeat did
// not reach it.
std::optional<double> time_to_auroc_s(const results::TrialResult& trial);

// Returns a sentence of the kind "accuracy" for each trial that learned. Adds one of the kind "accuracy_ratio" for each
// that should learn the same as an earlier trial, because they differ only in how images are read, how many ranks share
// the images of a step, and how the ranks communicate. It says whether the intervals of their quality overlap.
std::vector<results::Finding> learning_findings(const std::vector<const results::TrialResult*>& trials);

// AUROCs published by others for ChestX-ray14, to compare with measured ones. Pure functions, thread-safe.

// The results of one publication. All of them tested on their own random split by patients, not on the official test
// list, which is harder.
struct PublishedAurocs {
  std::string_view name;                   // "CheXNet"
  std::string_view source;                 // the publication
  std::string_view images;                 // the test images
  double mean = 0;                         // over the findings
  std::array<double, kNihLabels> of = {};  // in the order of the labels
};

// The same for every caller.
std::span<const PublishedAurocs> published_aurocs();

// Returns whether these are the 14 findings of the published figures, in their order.
bool has_published_aurocs(const std::vector<std::string>& labels);

// One sentence that applies to all of them.
inline constexpr std::string_view kPublishedOfOtherData =
    "Published AUROCs are of other images: random splits of ChestX-ray14 by patients, not its official test list";

}  // namespace chexbench::analysis
