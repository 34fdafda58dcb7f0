// How good probabilities of labels are: whether they rank images rightly (AUROC, average precision), and whether they
// mean what they say (Brier score, reliability).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/auroc.hpp"
#include "measure/patient_bootstrap.hpp"

namespace chexbench::measure {

// Returns the sum over thresholds of the recall that a threshold adds times its precision, without interpolation:
// scikit-learn's average_precision_score. Images of equal scores share a threshold. Returns std::nullopt if no image
// has the label. The arguments are those of auroc(). Takes O(n log n) time. Thread-safe.
std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> has_finding);

inline constexpr std::size_t kReliabilityBins = 10;

// The images whose probability is within [i/10, (i+1)/10), the last of them with 1.
struct ReliabilityBin {
  std::uint64_t images = 0;
  std::uint64_t positives = 0;
  double sum_of_probabilities = 0;

  std::optional<double> mean_probability() const;
  std::optional<double> share_of_positives() const;
};

using Reliability = std::array<ReliabilityBin, kReliabilityBins>;

// Returns the reliability curve of a label (scikit-learn's calibration_curve, strategy uniform). Scores are from 0
// to 1.
Reliability reliability(std::span<const float> scores, std::span<const std::uint8_t> has_finding);

// Returns the expected calibration error: the mean over images of how far the mean probability of their bin is from the
// share of its images that are positive (Guo et al., "On calibration of modern neural networks", ICML 2017).
// std::nullopt if there are no images.
std::optional<double> calibration_error(const Reliability& bins);

// One label. The counts are numbers of images with and without it.
struct LabelScores {
  Estimate auroc;
  Estimate average_precision;
  Estimate brier;  // mean of (probability - label)^2 (Brier, Monthly Weather Review 1950)
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
  Reliability reliability = {};

  // Whether both kinds of images are there. Without, the label has no AUROC and no average precision.
  bool is_judged() const { return positives > 0 && negatives > 0; }
};

struct ScoreSummary {
  std::vector<LabelScores> labels;  // in the order of the columns
  // Over the labels that are judged.
  Estimate mean_auroc;
  Estimate mean_average_precision;
  Estimate mean_brier;
};

// Computes all figures of each label and the means over the labels that are judged, with 95 % intervals over patients
// (patient_bootstrap.hpp), as summarize_auroc() does. Scores are probabilities. Takes three times as long as
// summarize_auroc(). Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
ScoreSummary summarize_scores(const ScoredImages& images);

}  // namespace chexbench::measure
