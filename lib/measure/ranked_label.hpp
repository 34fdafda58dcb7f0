// One label of scored images, sorted by score: what AUROC and average precision are counted from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "measure/auroc.hpp"

namespace chexbench::measure {

// Sorted once, so that a bootstrap can count each resample in O(n). Immutable, so threads may share it.
class RankedLabel {
 public:
  // All spans have the same length and one element per image of which the label is known. `images` are their numbers,
  // by which weights are looked up; without it, they are counted from 0.
  RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_finding);
  RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_finding,
              std::span<const std::uint32_t> images);

  // Return the AUROC and the average precision with image i counted weight[i] times; std::nullopt where auroc() and
  // average_precision() have none. Pairs and images are counted in integers, so the counts are exact.
  std::optional<double> auroc(std::span<const std::uint32_t> weight) const;
  std::optional<double> average_precision(std::span<const std::uint32_t> weight) const;

  // Writes the sensitivity at the false positive rates i / (values.size() - 1), with image j counted weight[j] times:
  // the highest one where a threshold has several, and a straight line between thresholds. Writes std::nullopt where
  // auroc() has none.
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

  std::vector<std::uint32_t> order_;       // images, by ascending score
  std::vector<std::uint8_t> has_finding_;  // in that order, like ends_run_
  std::vector<std::uint8_t> ends_run_;     // marks the last image of each run of equal scores
};

// The scores and labels of one column of ScoredImages, where they are known, and the images that they are of.
struct LabelColumn {
  std::vector<float> scores;
  std::vector<std::uint8_t> has_finding;
  std::vector<std::uint32_t> images;

  RankedLabel ranked() const { return {scores, has_finding, images}; }
};

std::vector<LabelColumn> label_columns(const ScoredImages& images);

}  // namespace chexbench::measure
