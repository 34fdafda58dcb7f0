#include "measure/scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "measure/auroc.hpp"

namespace chexbench::measure {
namespace {

double squared_error(float score, std::uint8_t has_label) {
  const double difference = static_cast<double>(score) - (has_label != 0 ? 1 : 0);
  return difference * difference;
}

std::optional<double> brier(const LabelColumn& column, std::span<const std::uint32_t> weight) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < column.images.size(); ++i) {
    const std::uint32_t times = weight[column.images[i]];
    sum += times * squared_error(column.scores[i], column.has_label[i]);
    count += times;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

// The figures of a label in the order of the bootstrap's values.
enum Figure : std::size_t { kAuroc, kAveragePrecision, kBrier, kFigures };

// Returns the estimates of all figures of each label, one label after the other, and then those of their means.
std::vector<Estimate> estimates_of(const std::vector<LabelColumn>& columns, const std::vector<RankedLabel>& ranked,
                                   const std::vector<std::uint32_t>& patients) {
  std::array<MeanOfDefined, kFigures> means;
  const auto figures = [&](std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) {
    std::array<std::vector<std::optional<double>>, kFigures> judged;  // the labels that the means are over
    for (std::size_t f = 0; f < columns.size(); ++f) {
      const auto of_label = values.subspan(f * kFigures, kFigures);
      of_label[kAuroc] = ranked[f].auroc(weight);
      const bool is_judged = of_label[kAuroc].has_value();
      of_label[kAveragePrecision] = is_judged ? ranked[f].average_precision(weight) : std::nullopt;
      of_label[kBrier] = brier(columns[f], weight);
      for (std::size_t figure = 0; figure < kFigures; ++figure)
        judged[figure].push_back(is_judged ? of_label[figure] : std::nullopt);
    }
    for (std::size_t figure = 0; figure < kFigures; ++figure)
      values[columns.size() * kFigures + figure] = means[figure](judged[figure]);
  };
  return bootstrap_over_patients(patients, (columns.size() + 1) * kFigures, figures);
}

}  // namespace

std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> has_label) {
  return RankedLabel(scores, has_label).average_precision(std::vector<std::uint32_t>(scores.size(), 1));
}

std::optional<double> ReliabilityBin::mean_probability() const {
  return images == 0 ? std::nullopt : std::optional(sum_of_probabilities / static_cast<double>(images));
}

std::optional<double> ReliabilityBin::share_of_positives() const {
  return images == 0 ? std::nullopt : std::optional(static_cast<double>(positives) / static_cast<double>(images));
}

Reliability reliability(std::span<const float> scores, std::span<const std::uint8_t> has_label) {
  Reliability bins = {};
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const double place = static_cast<double>(scores[i]) * kReliabilityBins;
    ReliabilityBin& bin = bins[std::min(static_cast<std::size_t>(std::max(place, 0.0)), kReliabilityBins - 1)];
    ++bin.images;
    bin.positives += has_label[i] != 0 ? 1 : 0;
    bin.sum_of_probabilities += static_cast<double>(scores[i]);
  }
  return bins;
}

std::optional<double> calibration_error(const Reliability& bins) {
  double images = 0, sum = 0;
  for (const ReliabilityBin& bin : bins) {
    images += static_cast<double>(bin.images);
    sum += std::abs(bin.sum_of_probabilities - static_cast<double>(bin.positives));
  }
  return images == 0 ? std::nullopt : std::optional(sum / images);
}

ScoreSummary summarize_scores(const ScoredImages& images) {
  const std::vector<LabelColumn> columns = label_columns(images);
  std::vector<RankedLabel> ranked;
  for (const LabelColumn& column : columns) ranked.push_back(column.ranked());
  const std::vector<Estimate> estimates = estimates_of(columns, ranked, images.patients);
  ScoreSummary summary;
  for (std::size_t f = 0; f < columns.size(); ++f) {
    const std::span<const Estimate> of_label = std::span(estimates).subspan(f * kFigures, kFigures);
    summary.labels.push_back({.auroc = of_label[kAuroc],
                              .average_precision = of_label[kAveragePrecision],
                              .brier = of_label[kBrier],
                              .positives = ranked[f].positives(),
                              .negatives = ranked[f].negatives(),
                              .reliability = reliability(columns[f].scores, columns[f].has_label)});
  }
  const std::span<const Estimate> of_means = std::span(estimates).subspan(columns.size() * kFigures);
  summary.mean_auroc = of_means[kAuroc];
  summary.mean_average_precision = of_means[kAveragePrecision];
  summary.mean_brier = of_means[kBrier];
  return summary;
}

std::size_t place_of_class(std::span<const float> scores, std::size_t right) {
  std::size_t place = 1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) return scores.size();
    if (scores[i] > scores[right] || (scores[i] == scores[right] && i < right)) ++place;
  }
  return place;
}

ClassScores summarize_classes(const std::vector<PlacedImage>& images, std::size_t classes) {
  ClassScores scores;
  scores.classes.resize(classes);
  std::vector<std::uint32_t> patients;
  for (const PlacedImage& image : images) {
    ClassAccuracy& accuracy = scores.classes.at(image.label);
    ++accuracy.images;
    accuracy.in_top1 += image.place == 1 ? 1 : 0;
    accuracy.in_top5 += image.place <= kTopK ? 1 : 0;
    patients.push_back(image.patient);
  }
  const auto shares = [&images](std::span<const std::uint32_t> weight, std::span<std::optional<double>> values) {
    double all = 0, top1 = 0, top5 = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
      all += weight[i];
      top1 += images[i].place == 1 ? weight[i] : 0;
      top5 += images[i].place <= kTopK ? weight[i] : 0;
    }
    values[0] = all > 0 ? std::optional(top1 / all) : std::nullopt;
    values[1] = all > 0 ? std::optional(top5 / all) : std::nullopt;
  };
  const std::vector<Estimate> estimates = bootstrap_over_patients(patients, 2, shares);
  scores.top1 = estimates[0];
  scores.top5 = estimates[1];
  return scores;
}

std::vector<Confusion> most_confused(std::span<const std::uint32_t> labels, std::span<const std::uint32_t> taken_for,
                                     std::size_t most) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != taken_for[i]) ++counts[{labels[i], taken_for[i]}];
  std::vector<Confusion> confusions;
  for (const auto& [pair, images] : counts)
    confusions.push_back({.label = pair.first, .taken_for = pair.second, .images = images});
  std::ranges::stable_sort(confusions, std::greater{}, &Confusion::images);
  confusions.resize(std::min(confusions.size(), most));
  return confusions;
}

}  // namespace chexbench::measure
