#include "measure/auroc.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/interrupt.hpp"
#include "core/random.hpp"

namespace chexbench::measure {
namespace {

constexpr int kResamples = 1000;
constexpr std::uint64_t kSeed = 1;

// The images of one label, sorted by score. The last image of each run of equal scores is marked.
class RankedLabel {
 public:
  RankedLabel(const ScoredImages& images, std::size_t label) {
    const auto cell = [&](std::size_t image) { return image * images.columns + label; };
    order_.resize(images.images());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return images.scores[cell(a)] < images.scores[cell(b)]; });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      has_finding_.push_back(images.labels[cell(order_[i])]);
      ends_run_.push_back(i + 1 == order_.size() ||
                          images.scores[cell(order_[i])] != images.scores[cell(order_[i + 1])]);
    }
  }

  // Returns the AUROC with each image counted `weight` times. Pairs are counted in integers, and ties as half pairs,
  // so the count is exact.
  std::optional<double> area(const std::vector<std::uint32_t>& weight) const {
    std::uint64_t below = 0, half_pairs = 0, positives = 0;  // negatives with a lower score; twice the number of pairs
    std::uint64_t run_positives = 0, run_negatives = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      (has_finding_[i] != 0 ? run_positives : run_negatives) += weight[order_[i]];
      if (ends_run_[i] == 0) continue;
      half_pairs += run_positives * (2 * below + run_negatives);
      below += run_negatives;
      positives += run_positives;
      run_positives = run_negatives = 0;
    }
    if (positives == 0 || below == 0) return std::nullopt;
    return static_cast<double>(half_pairs) / 2 / static_cast<double>(positives) / static_cast<double>(below);
  }

  std::uint64_t positives() const {
    return static_cast<std::uint64_t>(std::count(has_finding_.begin(), has_finding_.end(), 1));
  }
  std::uint64_t negatives() const { return order_.size() - positives(); }

 private:
  std::vector<std::uint32_t> order_;
  std::vector<std::uint8_t> has_finding_;  // in that order, like ends_run_
  std::vector<std::uint8_t> ends_run_;
};

// Draws as many patients as there are, with replacement, and returns how often each image was drawn.
class PatientDraws {
 public:
  explicit PatientDraws(const std::vector<std::uint32_t>& patients) : weights_(patients.size()) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> images;
    for (std::uint32_t image = 0; image < patients.size(); ++image) images[patients[image]].push_back(image);
    for (auto& [patient, of_patient] : images) images_.push_back(std::move(of_patient));
  }

  const std::vector<std::uint32_t>& draw() {
    std::fill(weights_.begin(), weights_.end(), 0u);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      for (const std::uint32_t image : images_[random_.below(images_.size())]) ++weights_[image];
    }
    return weights_;
  }

 private:
  RandomStream random_{kSeed};
  std::vector<std::vector<std::uint32_t>> images_;
  std::vector<std::uint32_t> weights_;
};

std::optional<double> mean(const std::vector<std::optional<double>>& values) {
  double sum = 0;
  int count = 0;
  for (const std::optional<double>& value : values) {
    sum += value.value_or(0);
    count += value ? 1 : 0;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

std::optional<Interval> middle_95(std::vector<double> values) {
  if (values.size() < kResamples / 2) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return Interval{at(0.025), at(0.975)};
}

void add(std::vector<double>& values, std::optional<double> value) {
  if (value) values.push_back(*value);
}

}  // namespace

std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> has_finding) {
  const ScoredImages images{.columns = 1,
                            .scores = {scores.begin(), scores.end()},
                            .labels = {has_finding.begin(), has_finding.end()},
                            .patients = std::vector<std::uint32_t>(scores.size())};
  return RankedLabel(images, 0).area(std::vector<std::uint32_t>(scores.size(), 1));
}

AurocSummary summarize_auroc(const ScoredImages& images) {
  std::vector<RankedLabel> ranked;
  AurocSummary summary;
  std::vector<std::optional<double>> areas(images.columns);
  const std::vector<std::uint32_t> once(images.images(), 1);
  for (std::size_t f = 0; f < images.columns; ++f) {
    const RankedLabel& label = ranked.emplace_back(images, f);
    areas[f] = label.area(once);
    summary.labels.push_back({areas[f], {}, label.positives(), label.negatives()});
  }
  summary.mean = mean(areas);

  PatientDraws draws(images.patients);
  std::vector<std::vector<double>> drawn(images.columns);
  std::vector<double> means;
  for (int resample = 0; resample < kResamples && images.images() > 0; ++resample) {
    throw_if_interrupted();
    const std::vector<std::uint32_t>& weights = draws.draw();
    bool same_labels = true;
    for (std::size_t f = 0; f < images.columns; ++f) {
      areas[f] = ranked[f].area(weights);
      add(drawn[f], areas[f]);
      same_labels &= areas[f].has_value() == summary.labels[f].value.has_value();
    }
    if (same_labels) add(means, mean(areas));
  }
  for (std::size_t f = 0; f < images.columns; ++f) summary.labels[f].ci95 = middle_95(std::move(drawn[f]));
  summary.mean_ci95 = middle_95(std::move(means));
  return summary;
}

}  // namespace chexbench::measure
