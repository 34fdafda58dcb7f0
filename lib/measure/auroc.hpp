// How well scores tell images with a finding from those without: the area under the ROC curve.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/statistics.hpp"

namespace chexbench::measure {

// The chance that an image with the finding scores higher than one without, ties counting half: the Mann-Whitney
// statistic (Hanley and McNeil, "The meaning and use of the area under a ROC curve", Radiology 1982). Empty where all
// or none have the finding. Both spans hold an image each; scores must not be NaN. O(n log n).
std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> has_finding);

// Scores and labels of some images, [images, findings], row-major.
struct ScoredImages {
  std::size_t findings = 0;
  std::vector<float> scores;
  std::vector<std::uint8_t> labels;     // 0 or 1
  std::vector<std::uint32_t> patients;  // [images]: images of one patient are no independent draws

  std::size_t images() const { return patients.size(); }
};

struct FindingAuroc {
  std::optional<double> value;
  std::optional<Interval> ci95;
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
};

struct AurocSummary {
  std::vector<FindingAuroc> findings;  // in the order of the columns
  std::optional<double> mean;          // over the findings that have a value
  std::optional<Interval> mean_ci95;
};

// AUROC of each finding and their mean, with 95 % percentile-bootstrap intervals: patients are drawn with replacement,
// all their images together (Field and Welsh, "Bootstrapping clustered data", 2007), 1,000 resamples, deterministic.
// A resample in which a finding has no AUROC says nothing of it, nor of the mean, which would be one over other
// findings; an interval is left empty where fewer than half of the resamples gave a value. Takes 12 ns for each
// image, finding and resample: 1.7 s for 14 findings of ten thousand images. @throws InterruptedError
AurocSummary summarize_auroc(const ScoredImages& images);

}  // namespace chexbench::measure
