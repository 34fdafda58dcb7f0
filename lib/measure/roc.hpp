// The ROC curve of a label: which share of the images that have it are found, and at what price.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "measure/auroc.hpp"
#include "measure/patient_bootstrap.hpp"

namespace chexbench::measure {

inline constexpr std::size_t kRocPoints = 51;  // false positive rates 0, 0.02, ..., 1

inline double false_positive_rate_at(std::size_t point) { return static_cast<double>(point) / (kRocPoints - 1); }

// The sensitivity (share of the images with the label that a threshold finds) at each false positive rate (share of the
// images without it that the same threshold takes for such ones), with a 95 % band. No value where the label has no
// AUROC.
using RocCurve = std::array<Estimate, kRocPoints>;

struct RocSummary {
  std::vector<RocCurve> labels;  // in the order of the columns
  RocCurve mean;                 // over the labels that have a curve
};

// Computes the curve of each label, and at each false positive rate the mean over labels (vertical averaging: Fawcett,
// "An introduction to ROC analysis", Pattern Recognition Letters 2006, section 8.1). Between two thresholds a curve is
// a straight line, so images of equal scores count half, as in auroc(). The bands are pointwise, of the resamples by
// which summarize_auroc() makes its intervals. Takes about as long as that. Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
RocSummary summarize_roc(const ScoredImages& images);

}  // namespace chexbench::measure
