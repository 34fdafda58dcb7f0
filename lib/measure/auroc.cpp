#include "measure/auroc.hpp"

#include "measure/patient_bootstrap.hpp"
#include "measure/ranked_label.hpp"

namespace chexbench::measure {

std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> has_finding) {
  return RankedLabel(scores, has_finding).auroc(std::vector<std::uint32_t>(scores.size(), 1));
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

}  // namespace chexbench::measure
