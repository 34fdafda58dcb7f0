// The ROC and reliability curves of labels as JSON, in report.json and in evaluation.json.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "measure/auroc.hpp"
#include "measure/scores.hpp"
#include "results/field.hpp"
#include "results/json_visitors.hpp"
#include "results/record.hpp"

namespace chexbench::results {

// Returns an object of columns with a value for each point of the curve, null where it has none.
template <class Json>
Json roc_to_json(const measure::RocCurve& curve) {
  Json object = {{"false_positive_rate", Json::array()},
                 {"sensitivity", Json::array()},
                 {"sensitivity_ci95_low", Json::array()},
                 {"sensitivity_ci95_high", Json::array()}};
  const auto add = [&object](const char* column, const std::optional<double>& value) {
    object[column].push_back(value ? Json(*value) : Json(nullptr));
  };
  for (std::size_t point = 0; point < curve.size(); ++point) {
    const measure::Estimate& estimate = curve[point];
    add("false_positive_rate", measure::false_positive_rate_at(point));
    add("sensitivity", estimate.value);
    add("sensitivity_ci95_low", estimate.ci95 ? std::optional(estimate.ci95->low) : std::nullopt);
    add("sensitivity_ci95_high", estimate.ci95 ? std::optional(estimate.ci95->high) : std::nullopt);
  }
  return object;
}

// Returns an array with an object for each bin. `from` is within the bin, `to` is not, but for that of the last bin.
template <class Json>
Json reliability_to_json(const measure::Reliability& reliability) {
  Json bins = Json::array();
  for (std::size_t i = 0; i < reliability.size(); ++i) {
    const measure::ReliabilityBin& bin = reliability[i];
    const JsonWriter write(bins.emplace_back(Json::object()));
    write("from", static_cast<double>(i) / measure::kReliabilityBins);
    write("to", static_cast<double>(i + 1) / measure::kReliabilityBins);
    write("images", bin.images);
    write("positives", bin.positives);
    write("sum_of_probabilities", bin.sum_of_probabilities);
    write("mean_probability", bin.mean_probability());
    write("share_of_positives", bin.share_of_positives());
  }
  return bins;
}

// Returns an array with an object for each label.
template <class Json>
Json curves_to_json(const std::vector<LabelCurves>& curves) {
  Json array = Json::array();
  for (const LabelCurves& label : curves) {
    array.push_back({{"finding", label.label},
                     {"roc", roc_to_json<Json>(label.roc)},
                     {"reliability", reliability_to_json<Json>(label.reliability)}});
  }
  return array;
}

// @throws DataError if an array has another number of values than a curve has points
// @throws Json::exception if a value is missing or has another type
template <class Json>
measure::RocCurve roc_from_json(const Json& object) {
  const auto column = [&object](const char* name) -> const Json& {
    const Json& values = object.at(name);
    if (values.size() == measure::kRocPoints) return values;
    throw DataError(fmt::format("'{}' has {} values, not {}", name, values.size(), measure::kRocPoints));
  };
  const Json &sensitivity = column("sensitivity"), &low = column("sensitivity_ci95_low"),
             &high = column("sensitivity_ci95_high");
  measure::RocCurve curve;
  for (std::size_t point = 0; point < curve.size(); ++point) {
    if (!sensitivity[point].is_null()) curve[point].value = sensitivity[point].template get<double>();
    if (!low[point].is_null() && !high[point].is_null())
      curve[point].ci95 = measure::Interval{low[point].template get<double>(), high[point].template get<double>()};
  }
  return curve;
}

// @throws as roc_from_json()
template <class Json>
measure::Reliability reliability_from_json(const Json& array) {
  measure::Reliability reliability = {};
  if (array.size() != reliability.size())
    throw DataError(fmt::format("'reliability' has {} bins, not {}", array.size(), reliability.size()));
  for (std::size_t i = 0; i < reliability.size(); ++i) {
    const JsonReader read(array[i]);
    read("images", reliability[i].images);
    read("positives", reliability[i].positives);
    read("sum_of_probabilities", reliability[i].sum_of_probabilities);
  }
  return reliability;
}

// @throws as roc_from_json()
template <class Json>
std::vector<LabelCurves> curves_from_json(const Json& array) {
  std::vector<LabelCurves> curves;
  for (const Json& object : array) {
    curves.push_back({.label = object.at("finding").template get<std::string>(),
                      .roc = roc_from_json(object.at("roc")),
                      .reliability = reliability_from_json(object.at("reliability"))});
  }
  return curves;
}

// The points of ROC and reliability curves as rows of a table, which runs and evaluations share.

template <class Visitor>
void visit_roc_point(Visitor&& visit, const LabelCurves& label, std::size_t point) {
  const measure::Estimate& estimate = label.roc.at(point);
  visit(Field{"finding", "", "label of the images"}, label.label);
  visit(Field{"false_positive_rate", "1", "share of the images without the label that a threshold takes for such ones"},
        measure::false_positive_rate_at(point));
  visit(Field{"sensitivity", "1", "share of the images with the label that the same threshold finds",
              "all images or none have the label"},
        estimate.value);
  visit(Field{"sensitivity_ci95", "1", "95 % interval of sensitivity over patients, by bootstrap, for each point alone",
              "sensitivity is, or fewer than half of the resamples have it"},
        estimate.ci95);
}

template <class Visitor>
void visit_reliability_bin(Visitor&& visit, const LabelCurves& label, std::size_t i) {
  const measure::ReliabilityBin& bin = label.reliability.at(i);
  visit(Field{"finding", "", "label of the images"}, label.label);
  visit(Field{"from", "1", "the least probability of the bin"}, static_cast<double>(i) / measure::kReliabilityBins);
  visit(Field{"to", "1", "the end of the bin, which only the last one includes"},
        static_cast<double>(i + 1) / measure::kReliabilityBins);
  visit(Field{"images", "images", "images whose probability is in the bin"}, bin.images);
  visit(Field{"positives", "images", "those of them that have the label"}, bin.positives);
  visit(Field{"mean_probability", "1", "mean of their probabilities", "the bin has no image"}, bin.mean_probability());
  visit(Field{"share_of_positives", "1", "share of them that have the label", "the bin has no image"},
        bin.share_of_positives());
}

}  // namespace chexbench::results
