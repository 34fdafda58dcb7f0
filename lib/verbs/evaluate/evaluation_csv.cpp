#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "dataset/index.hpp"
#include "report/csv.hpp"
#include "report/csv_table.hpp"
#include "verbs/evaluate/evaluation_result.hpp"

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

// Begins the row of an image in scores.csv, for any task.
report::CsvRow row_of(const EvaluationResult& result, const ScoreRow& row) {
  report::CsvRow line;
  line(row.file);
  line(row.patient);
  line(result.data_set ? dataset::labels_text(row.labels, result.labels) : "");
  return line;
}

std::string class_scores_csv(const EvaluationResult& result) {
  report::CsvRow header;
  for (const char* name : {"file", "patient", "labels", "place"}) header(name);
  const std::size_t most = std::min(measure::kTopK, result.labels.size());
  for (std::size_t k = 1; k <= most; ++k) {
    header(fmt::format("class_{}", k));
    header(fmt::format("probability_{}", k));
  }
  std::string text = std::move(header).line();
  for (const ScoreRow& row : result.rows) {
    report::CsvRow line = row_of(result, row);
    std::optional<std::size_t> place;
    if (result.data_set)
      row.labels.for_each([&](std::size_t c) { place = measure::place_of_class(row.probabilities, c); });
    line(place ? fmt::to_string(*place) : "");
    for (const std::size_t c : most_probable(row)) {
      line(result.labels[c]);
      line(fmt::to_string(row.probabilities[c]));
    }
    text += std::move(line).line();
  }
  return text;
}

// Returns a row for each label or class (`name`): its name, and the figures that `visit` visits.
template <class Figures, class Visit>
std::string figures_csv(const char* name, const std::vector<std::string>& labels, const std::vector<Figures>& figures,
                        const Visit& visit) {
  report::CsvRow header;
  header(name);
  visit([&header](const char* figure, const auto&) { header(figure); }, Figures{});
  std::string text = std::move(header).line();
  for (std::size_t f = 0; f < labels.size(); ++f) {
    report::CsvRow line;
    line(labels[f]);
    visit([&line](const char*, const auto& value) { line(value); }, figures[f]);
    text += std::move(line).line();
  }
  return text;
}

}  // namespace

std::string scores_csv(const EvaluationResult& result) {
  if (result.task == spec::Task::classes) return class_scores_csv(result);
  report::CsvRow header;
  for (const char* name : {"file", "patient", "labels"}) header(name);
  for (const std::string& label : result.labels) header("probability_" + label);
  std::string text = std::move(header).line();
  for (const ScoreRow& row : result.rows) {
    report::CsvRow line = row_of(result, row);
    for (const float probability : row.probabilities) line(fmt::to_string(probability));
    text += std::move(line).line();
  }
  return text;
}

std::string evaluation_csv(const EvaluationResult& result) {
  if (!result.data_set) return scores_csv(result);
  if (result.data_set->classes) {
    return figures_csv("class", result.labels, result.data_set->classes->classes,
                       [](const auto& visitor, const auto& of_class) { visit_class(visitor, of_class); });
  }
  return figures_csv("label", result.labels, result.data_set->scores.labels,
                     [](const auto& visitor, const auto& label) { visit_label(visitor, label); });
}

std::string evaluation_roc_csv(const EvaluationResult& result) { return report::roc_csv(curves_of(result)); }

std::string evaluation_reliability_csv(const EvaluationResult& result) {
  if (result.data_set->classes) {
    return report::reliability_csv(
        {{.label = "most probable class", .roc = {}, .reliability = result.data_set->certainty}});
  }
  return report::reliability_csv(curves_of(result));
}

}  // namespace chexbench::verbs
