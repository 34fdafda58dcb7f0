// The area under the ROC curve (AUROC): how well scores separate images with a label from images without it. And 95 %
// intervals of such figures, where several images may belong to one patient.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/batch.hpp"
#include "measure/statistics.hpp"

namespace chexbench::measure {

inline constexpr int kBootstrapResamples = 1000;
inline constexpr std::uint64_t kBootstrapSeed = 1;

// A figure and its 95 % interval.
struct Estimate {
  std::optional<double> value;
  std::optional<Interval> ci95;
};

// Computes figures with image i counted weight[i] times, and writes one value for each, std::nullopt if it is
// undefined. The first call has all weights 1.
using WeightedFigures =
    std::function<void(std::span<const std::uint32_t> weight, std::span<std::optional<double>> values)>;

// Computes `count` figures and their percentile-bootstrap intervals. The bootstrap draws as many patients as there are
// with replacement, and takes all images of a drawn patient together (Field and Welsh, "Bootstrapping clustered data",
// 2007). It uses kBootstrapResamples resamples and a fixed seed, so the result is deterministic. `patients` has the
// patient of each image. An interval is std::nullopt if its figure is defined in fewer than half of the resamples.
// @throws InterruptedError if a signal arrives meanwhile
std::vector<Estimate> bootstrap_over_patients(const std::vector<std::uint32_t>& patients, std::size_t count,
                                              const WeightedFigures& figures);

// The mean over the figures that have a value in the first call. A later call in which other figures have values
// returns std::nullopt, because it would average different figures.
class MeanOfDefined {
 public:
  std::optional<double> operator()(std::span<const std::optional<double>> values);

 private:
  std::optional<std::vector<bool>> defined_;  // in the first call
};

// Returns the probability that an image with the label scores higher than one without it, where ties count half.
// This is the Mann-Whitney statistic (Hanley and McNeil, "The meaning and use of the area under a ROC curve",
// Radiology 1982). Returns std::nullopt if all images or none have the label. Both spans have one element per image
// and the same length; labels are 0 or 1; scores must not be NaN. Takes O(n log n) time. Thread-safe.
std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> has_label);

// The value of an unknown label: the label's figures do not count the image.
inline constexpr std::uint8_t kUnknown = 2;

// Returns the value for ScoredImages::labels that stands for a label of a batch (core/batch.hpp).
constexpr std::uint8_t truth_of(float label) { return label == kIgnoredLabel ? kUnknown : label != 0 ? 1 : 0; }

// The input of summarize_auroc(). `scores` and `labels` have the shape [images, columns] and are row-major.
struct ScoredImages {
  std::size_t columns = 0;  // labels
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;     // 0, 1 or kUnknown
  std::vector<std::uint32_t> patients;  // [images]: images of one patient are not independent draws

  std::size_t images() const { return patients.size(); }
};

// One label. `ci95` is a 95 % interval of `value`; the counts are numbers of images with and without the label.
struct LabelAuroc {
  std::optional<double> value;
  std::optional<Interval> ci95;
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
};

struct AurocSummary {
  std::vector<LabelAuroc> labels;  // in the order of the columns
  std::optional<double> mean;      // over the labels that have a value
  std::optional<Interval> mean_ci95;
};

// Computes the AUROC of each label and the mean over labels, each with a 95 % interval over patients. A resample in
// which a label has no AUROC does not count for that label, nor for the mean, which would then be a mean over other
// labels. Takes about 12 ns per image, label and resample: 1.7 s for 14 labels of ten thousand images. Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
AurocSummary summarize_auroc(const ScoredImages& images);

inline constexpr std::size_t kRocPoints = 51;  // false positive rates 0, 0.02, ..., 1

inline double false_positive_rate_at(std::size_t point) { return static_cast<double>(point) / (kRocPoints - 1); }

// The sensitivity (share of the images with the label that a threshold finds) at each false positive rate (share of the
// images without it that the same threshold marks as having it), with a 95 % band. No value where the label has no
// AUROC.
using RocCurve = std::array<Estimate, kRocPoints>;

struct RocSummary {
  std::vector<RocCurve> labels;  // in the order of the columns
  RocCurve mean;                 // over the labels that have a curve
};

// Computes the curve of each label, and at each false positive rate the mean over labels (vertical averaging: Fawcett,
// "An introduction to ROC analysis", Pattern Recognition Letters 2006, section 8.1). Between two thresholds a curve is
// a straight line, so images of equal scores count half, as in auroc(). The bands are pointwise, from the same
// resamples as summarize_auroc()'s intervals. Takes about as long as that. Thread-safe.
// @throws InterruptedError if a signal arrives meanwhile
RocSummary summarize_roc(const ScoredImages& images);

// One label of scored images, sorted by score once, so that a bootstrap can count each resample in O(n). Immutable, so
// threads may share it.
class RankedLabel {
 public:
  // All spans have the same length and one element per image whose label is known. `images` are their numbers, for
  // looking up weights; without it, they are counted from 0.
  RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_label);
  RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_label,
              std::span<const std::uint32_t> images);

  // Return the AUROC and the average precision with image i counted weight[i] times; std::nullopt where auroc() and
  // average_precision() have none. Pairs and images are counted in integers, so the counts are exact.
  std::optional<double> auroc(std::span<const std::uint32_t> weight) const;
  std::optional<double> average_precision(std::span<const std::uint32_t> weight) const;

  // Writes the sensitivity at the false positive rates i / (values.size() - 1), with image j counted weight[j] times:
  // the highest one if there are several, and a straight line between thresholds. Writes std::nullopt where auroc() has
  // none.
  void sensitivities(std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) const;

  std::uint64_t positives() const;
  std::uint64_t negatives() const { return order_.size() - positives(); }

 private:
  // Images without and with the label, each counted as often as it weighs.
  struct Counts {
    std::uint64_t negatives = 0;
    std::uint64_t positives = 0;
  };
  Counts count(std::span<const std::uint32_t> weight) const;

  std::vector<std::uint32_t> order_;     // images, by ascending score
  std::vector<std::uint8_t> has_label_;  // in that order, like ends_run_
  std::vector<std::uint8_t> ends_run_;   // marks the last image of each run of equal scores
};

// The known scores and labels of one column of ScoredImages, and their images.
struct LabelColumn {
  std::vector<float> scores;
  std::vector<std::uint8_t> has_label;
  std::vector<std::uint32_t> images;

  RankedLabel ranked() const { return {scores, has_label, images}; }
};

std::vector<LabelColumn> label_columns(const ScoredImages& images);

}  // namespace chexbench::measure
