#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dataset/index.hpp"
#include "report/csv_row.hpp"
#include "report/curves_csv.hpp"
#include "verbs/evaluate/evaluation_fields.hpp"

namespace chexbench::verbs {
namespace {

std::vector<results::LabelCurves> curves_of(const EvaluationResult& result) {
  std::vector<results::LabelCurves> curves;
  for (std::size_t f = 0; f < result.labels.size(); ++f) {
    curves.push_back({.label = result.labels[f],
                      .roc = result.data_set->roc.labels[f],
                      .reliability = result.data_set->scores.labels[f].reliability});
  }
  return curves;
}

}  // namespace

std::string scores_csv(const EvaluationResult& result) {
  report::CsvRow header;
  for (const char* name : {"file", "patient", "labels"}) header(name);
  for (const std::string& label : result.labels) header("probability_" + label);
  std::string text = std::move(header).line();
  for (const ScoreRow& row : result.rows) {
    report::CsvRow line;
    line(row.file);
    line(row.patient);
    line(result.data_set ? dataset::labels_text(row.labels, result.labels) : "");
    for (const float probability : row.probabilities) line(fmt::to_string(probability));
    text += std::move(line).line();
  }
  return text;
}

std::string evaluation_csv(const EvaluationResult& result) {
  if (!result.data_set) return scores_csv(result);
  report::CsvRow header;
  header("label");
  visit_label([&header](const char* name, const auto&) { header(name); }, measure::LabelScores{});
  std::string text = std::move(header).line();
  for (std::size_t f = 0; f < result.labels.size(); ++f) {
    report::CsvRow line;
    line(result.labels[f]);
    visit_label([&line](const char*, const auto& value) { line(value); }, result.data_set->scores.labels[f]);
    text += std::move(line).line();
  }
  return text;
}

std::string evaluation_roc_csv(const EvaluationResult& result) { return report::roc_csv(curves_of(result)); }

std::string evaluation_reliability_csv(const EvaluationResult& result) {
  return report::reliability_csv(curves_of(result));
}

}  // namespace chexbench::verbs
