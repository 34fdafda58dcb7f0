// How good probabilities of labels are: whether they rank images correctly (AUROC, average precision), and whether they
// are calibrated (Brier score, reliability).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/auroc.hpp"

namespace chexbench::measure {

// Returns the sum over thresholds of the recall that a threshold adds times its precision, without interpolation:
// scikit-learn's average_precision_score. Images of equal scores share a threshold. Returns std::nullopt if no image
// has the label. The arguments are those of auroc(). Takes O(n log n) time. Thread-safe.
std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> has_label);

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
Reliability reliability(std::span<const float> scores, std::span<const std::uint8_t> has_label);

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

  // Whether there are images of both kinds. If not, the label has no AUROC and no average precision.
  bool is_judged() const { return positives > 0 && negatives > 0; }
};

struct ScoreSummary {
  std::vector<LabelScores> labels;  // in the order of the columns
  // Over the labels that are scored.
  Estimate mean_auroc;
  Estimate mean_average_precision;
  Estimate mean_brier;
};

// Computes all figures of each label and the means over the labels that are scored, with 95 % intervals over patients,
// as summarize_auroc() does. Scores are probabilities. Takes three times as long as summarize_auroc(). Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
ScoreSummary summarize_scores(const ScoredImages& images);

// How often the correct one of exclusive classes is among those with the network's highest scores.
// Returns the place of `right` among the classes by their scores, from 1; for equal scores the class with the lower
// number is first, so the places do not depend on a sort. If a score is NaN, the place is the last one. `right` is an
// index of `scores`. Thread-safe.
std::size_t place_of_class(std::span<const float> scores, std::size_t right);

// One image: its class, and the place of that class among the network's.
struct PlacedImage {
  std::uint32_t label = 0;
  std::uint32_t patient = 0;
  std::size_t place = 0;  // from 1
};

// The images of one class.
struct ClassAccuracy {
  std::uint64_t images = 0;
  std::uint64_t in_top1 = 0;
  std::uint64_t in_top5 = 0;
};

struct ClassScores {
  Estimate top1;  // share of images whose class has the highest score
  Estimate top5;  // share of images whose class has one of the five highest
  std::vector<ClassAccuracy> classes;
};

inline constexpr std::size_t kTopK = 5;

// Images of one class that a network mistakes for another.
struct Confusion {
  std::uint32_t label = 0;  // the true class
  std::uint32_t taken_for = 0;
  std::uint64_t images = 0;
};

// Returns the pairs of classes that are confused most often, at most `most` of them; pairs with equal counts are in the
// order of their classes. `labels` and `taken_for` have one class per image. Thread-safe.
std::vector<Confusion> most_confused(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> taken_for,
                                     std::size_t most);

// Computes the shares, with 95 % intervals over patients. Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
ClassScores summarize_classes(const std::vector<PlacedImage>& images, std::size_t classes);

}  // namespace chexbench::measure
