#include "measure/roc.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "measure/ranked_label.hpp"

namespace chexbench::measure {
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

}  // namespace chexbench::measure
