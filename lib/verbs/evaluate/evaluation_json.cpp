#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/learning.hpp"
#include "report/html.hpp"
#include "results/record_json.hpp"
#include "verbs/evaluate/evaluation_result.hpp"
#include "verbs/to_json.hpp"

namespace chexbench::verbs {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys below, for readers

void add_classes(const EvaluationResult& result, Json& object) {
  const measure::ClassScores& scores = *result.data_set->classes;
  visit_estimate(ToJson{object}, "top1", scores.top1);
  visit_estimate(ToJson{object}, "top5", scores.top5);
  object["classes"] = Json::array();
  for (std::size_t c = 0; c < result.labels.size(); ++c) {
    Json& row = object["classes"].emplace_back(Json{{"class", result.labels[c]}});
    visit_class(ToJson{row}, scores.classes[c]);
  }
  object["confusions"] = Json::array();
  for (const measure::Confusion& confusion : result.data_set->confusions) {
    object["confusions"].push_back({{"class", result.labels[confusion.label]},
                                    {"taken_for", result.labels[confusion.taken_for]},
                                    {"images", confusion.images},
                                    {"of_images", scores.classes[confusion.label].images}});
  }
  const std::optional<double> error = measure::calibration_error(result.data_set->certainty);
  object["calibration_error"] = error ? Json(*error) : Json(nullptr);
  results::JsonWriter{object}("reliability", result.data_set->certainty);
}

void add_data_set(const EvaluationResult& result, Json& object) {
  const DataSetScores& data_set = *result.data_set;
  object["root"] = data_set.root;
  object["split"] = data_set.split;
  object["images"] = result.rows.size();
  object["unread_images"] = data_set.unread_images;
  object["patients"] = data_set.patients > 0 ? Json(data_set.patients) : Json(nullptr);
  object["intervals"] = {{"method", "percentile bootstrap over patients"},
                         {"source", "Field and Welsh, Bootstrapping clustered data, 2007"},
                         {"resamples", measure::kBootstrapResamples},
                         {"seed", measure::kBootstrapSeed}};
  if (data_set.classes) return add_classes(result, object);
  Json& mean = object["mean"] = Json::object();
  visit_estimate(ToJson{mean}, "auroc", data_set.scores.mean_auroc);
  visit_estimate(ToJson{mean}, "average_precision", data_set.scores.mean_average_precision);
  visit_estimate(ToJson{mean}, "brier", data_set.scores.mean_brier);
  results::JsonWriter{mean}("roc", data_set.roc.mean);
  object["labels"] = Json::array();
  object["left_out_of_means"] = Json::array();
  for (std::size_t f = 0; f < result.labels.size(); ++f) {
    const measure::LabelScores& label = data_set.scores.labels[f];
    Json& row = object["labels"].emplace_back(Json{{"label", result.labels[f]}});
    visit_label(ToJson{row}, label);
    results::JsonWriter{row}("reliability", label.reliability);
    results::JsonWriter{row}("roc", data_set.roc.labels[f]);
    if (!label.is_judged()) object["left_out_of_means"].push_back(result.labels[f]);
  }
}

void add_published(const EvaluationResult& result, Json& object) {
  if (!analysis::has_published_aurocs(result.labels)) return;
  object["published"] = Json::array();
  for (const analysis::PublishedAurocs& published : analysis::published_aurocs()) {
    Json& one = object["published"].emplace_back(Json{{"name", published.name},
                                                      {"source", published.source},
                                                      {"images", published.images},
                                                      {"same_images", false},
                                                      {"mean_auroc", published.mean},
                                                      {"auroc", Json::object()}});
    for (std::size_t f = 0; f < result.labels.size(); ++f) one["auroc"][result.labels[f]] = published.of[f];
  }
}

void add_images(const EvaluationResult& result, Json& object) {
  object["images"] = Json::array();
  for (const ScoreRow& row : result.rows) {
    Json& image = object["images"].emplace_back(Json{{"file", row.file}, {"probabilities", Json::object()}});
    const auto add = [&](std::size_t f) { image["probabilities"][result.labels[f]] = row.probabilities[f]; };
    if (result.task == spec::Task::classes) {
      for (const std::size_t c : most_probable(row)) add(c);
    } else {
      for (std::size_t f = 0; f < result.labels.size(); ++f) add(f);
    }
    for (const ClassMap& map : row.maps) {
      image["class_maps"].push_back({{"label", result.labels[map.label]},
                                     {"file", map.file},
                                     {"rows", map.rows},
                                     {"columns", map.columns},
                                     {"values", map.values}});
    }
  }
}

Json to_json(const EvaluationResult& result) {
  Json object = {{"chexbench_version", result.chexbench_version},
                 {"date_utc", result.date_utc},
                 {"checkpoint", result.checkpoint},
                 {"network", result.network},
                 {"task", spec::to_string(result.task)},
                 {"epochs", result.epochs > 0 ? Json(result.epochs) : Json(nullptr)},
                 {"image_size", result.image_size},
                 {"crops", result.crops},
                 {"precision", result.precision},
                 {"engine", result.engine},
                 {"device", result.device}};
  if (result.data_set) {
    add_data_set(result, object);
    add_published(result, object);
  } else {
    add_images(result, object);
  }
  return object;
}

}  // namespace

std::string evaluation_json(const EvaluationResult& result) {
  return to_json(result).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string evaluation_html(const EvaluationResult& result) {
  const std::string title = fmt::format("{} of {}", result.network, result.data_set->root);
  return report::evaluation_page(title, to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace chexbench::verbs
