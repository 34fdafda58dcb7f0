#include "measure/auroc.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/interrupt.hpp"
#include "core/random.hpp"

namespace chexbench::measure {

std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> has_label) {
  return RankedLabel(scores, has_label).auroc(std::vector<std::uint32_t>(scores.size(), 1));
}

AurocSummary summarize_auroc(const ScoredImages& images) {
  std::vector<RankedLabel> ranked;
  for (const LabelColumn& column : label_columns(images)) ranked.push_back(column.ranked());
  MeanOfDefined mean;
  const std::vector<Estimate> estimates =
      bootstrap_over_patients(images.patients, images.columns + 1, [&](auto weight, auto values) {
        for (std::size_t f = 0; f < ranked.size(); ++f) values[f] = ranked[f].auroc(weight);
        values.back() = mean(values.first(ranked.size()));
      });
  AurocSummary summary;
  for (std::size_t f = 0; f < ranked.size(); ++f) {
    summary.labels.push_back({estimates[f].value, estimates[f].ci95, ranked[f].positives(), ranked[f].negatives()});
  }
  summary.mean = estimates.back().value;
  summary.mean_ci95 = estimates.back().ci95;
  return summary;
}

namespace {

RocCurve curve_of(std::span<const Estimate> estimates) {
  RocCurve curve;
  std::ranges::copy(estimates.first(kRocPoints), curve.begin());
  return curve;
}

}  // namespace

RocSummary summarize_roc(const ScoredImages& images) {
  std::vector<RankedLabel> ranked;
  for (const LabelColumn& column : label_columns(images)) ranked.push_back(column.ranked());
  std::array<MeanOfDefined, kRocPoints> means;
  std::vector<std::optional<double>> at_rate(ranked.size());  // of each label
  const auto curves = [&](std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) {
    for (std::size_t f = 0; f < ranked.size(); ++f)
      ranked[f].sensitivities(weight, values.subspan(f * kRocPoints, kRocPoints));
    for (std::size_t point = 0; point < kRocPoints; ++point) {
      for (std::size_t f = 0; f < ranked.size(); ++f) at_rate[f] = values[f * kRocPoints + point];
      values[ranked.size() * kRocPoints + point] = means[point](at_rate);
    }
  };
  const std::vector<Estimate> estimates =
      bootstrap_over_patients(images.patients, (ranked.size() + 1) * kRocPoints, curves);
  const auto curve = [&estimates](std::size_t f) { return curve_of(std::span(estimates).subspan(f * kRocPoints)); };
  RocSummary summary;
  for (std::size_t f = 0; f < ranked.size(); ++f) summary.labels.push_back(curve(f));
  summary.mean = curve(ranked.size());
  return summary;
}

RankedLabel::RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_label)
    : order_(scores.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return scores[a] < scores[b]; });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    has_label_.push_back(has_label[order_[i]]);
    ends_run_.push_back(i + 1 == order_.size() || scores[order_[i]] != scores[order_[i + 1]]);
  }
}

RankedLabel::RankedLabel(std::span<const float> scores, std::span<const std::uint8_t> has_label,
                         std::span<const std::uint32_t> images)
    : RankedLabel(scores, has_label) {
  for (std::uint32_t& place : order_) place = images[place];
}

// Ties count as half pairs.
std::optional<double> RankedLabel::auroc(std::span<const std::uint32_t> weight) const {
  std::uint64_t below = 0, half_pairs = 0, positives = 0;  // negatives with a lower score; twice the number of pairs
  std::uint64_t run_positives = 0, run_negatives = 0;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    (has_label_[i] != 0 ? run_positives : run_negatives) += weight[order_[i]];
    if (ends_run_[i] == 0) continue;
    half_pairs += run_positives * (2 * below + run_negatives);
    below += run_negatives;
    positives += run_positives;
    run_positives = run_negatives = 0;
  }
  if (positives == 0 || below == 0) return std::nullopt;
  return static_cast<double>(half_pairs) / 2 / static_cast<double>(positives) / static_cast<double>(below);
}

// A run of equal scores is one threshold. Thresholds fall from the highest score on.
std::optional<double> RankedLabel::average_precision(std::span<const std::uint32_t> weight) const {
  std::uint64_t positives = 0, images = 0, run_positives = 0;
  double sum = 0;  // of the precision at each threshold, times the positives added there
  for (std::size_t i = order_.size(); i-- > 0;) {
    run_positives += has_label_[i] != 0 ? weight[order_[i]] : 0;
    images += weight[order_[i]];
    if (i > 0 && ends_run_[i - 1] == 0) continue;  // the run goes on
    positives += run_positives;
    if (run_positives > 0)
      sum += static_cast<double>(run_positives) * static_cast<double>(positives) / static_cast<double>(images);
    run_positives = 0;
  }
  if (positives == 0) return std::nullopt;
  return sum / static_cast<double>(positives);
}

RankedLabel::Counts RankedLabel::count(std::span<const std::uint32_t> weight) const {
  Counts all;
  for (std::size_t i = 0; i < order_.size(); ++i)
    (has_label_[i] != 0 ? all.positives : all.negatives) += weight[order_[i]];
  return all;
}

// Walks from the highest score down. A point of the curve is where the negatives above a threshold reach its share of
// all negatives; this is compared in integers, so that rounding moves no point to another threshold.
void RankedLabel::sensitivities(std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) const {
  std::ranges::fill(values, std::nullopt);
  const Counts all = count(weight);
  if (all.positives == 0 || all.negatives == 0) return;
  const std::uint64_t steps = values.size() - 1;
  const auto found = [&all](double positives) { return positives / static_cast<double>(all.positives); };
  Counts above, run;
  std::size_t point = 0;
  for (std::size_t i = order_.size(); i-- > 0;) {
    (has_label_[i] != 0 ? run.positives : run.negatives) += weight[order_[i]];
    if (i > 0 && ends_run_[i - 1] == 0) continue;  // the run goes on
    for (; steps * (above.negatives + run.negatives) > point * all.negatives; ++point) {
      const double into_run = static_cast<double>(point * all.negatives - steps * above.negatives) /
                              static_cast<double>(steps * run.negatives);
      values[point] = found(static_cast<double>(above.positives) + into_run * static_cast<double>(run.positives));
    }
    above = {.negatives = above.negatives + run.negatives, .positives = above.positives + run.positives};
    run = {};
  }
  values.back() = 1;
}

std::uint64_t RankedLabel::positives() const {
  return static_cast<std::uint64_t>(std::count(has_label_.begin(), has_label_.end(), 1));
}

std::vector<LabelColumn> label_columns(const ScoredImages& images) {
  std::vector<LabelColumn> columns(images.columns);
  for (std::size_t cell = 0; cell < images.scores.size(); ++cell) {
    if (images.labels[cell] == kUnknown) continue;
    LabelColumn& column = columns[cell % images.columns];
    column.scores.push_back(images.scores[cell]);
    column.has_label.push_back(images.labels[cell]);
    column.images.push_back(static_cast<std::uint32_t>(cell / images.columns));
  }
  return columns;
}

namespace {

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
  RandomStream random_{kBootstrapSeed};
  std::vector<std::vector<std::uint32_t>> images_;
  std::vector<std::uint32_t> weights_;
};

std::optional<Interval> middle_95(std::vector<double> values) {
  if (values.size() < kBootstrapResamples / 2) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  return Interval{at(0.025), at(0.975)};
}

}  // namespace

std::vector<Estimate> bootstrap_over_patients(const std::vector<std::uint32_t>& patients, std::size_t count,
                                              const WeightedFigures& figures) {
  std::vector<std::optional<double>> values(count);
  figures(std::vector<std::uint32_t>(patients.size(), 1), values);
  std::vector<Estimate> estimates;
  for (const std::optional<double>& value : values) estimates.push_back({.value = value, .ci95 = {}});

  PatientDraws draws(patients);
  std::vector<std::vector<double>> drawn(count);
  for (int resample = 0; resample < kBootstrapResamples && !patients.empty(); ++resample) {
    throw_if_interrupted();
    figures(draws.draw(), values);
    for (std::size_t i = 0; i < count; ++i)
      if (values[i]) drawn[i].push_back(*values[i]);
  }
  for (std::size_t i = 0; i < count; ++i) estimates[i].ci95 = middle_95(std::move(drawn[i]));
  return estimates;
}

std::optional<double> MeanOfDefined::operator()(std::span<const std::optional<double>> values) {
  std::vector<bool> defined;
  double sum = 0;
  for (const std::optional<double>& value : values) {
    defined.push_back(value.has_value());
    sum += value.value_or(0);
  }
  if (!defined_) defined_ = defined;
  const auto count = std::count(defined.begin(), defined.end(), true);
  return count == 0 || defined != *defined_ ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

}  // namespace chexbench::measure
