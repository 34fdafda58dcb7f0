#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/learning.hpp"
#include "dataset/index.hpp"
#include "image/png/png_writer.hpp"
#include "report/csv.hpp"
#include "report/csv_table.hpp"
#include "report/html.hpp"
#include "results/record_json.hpp"
#include "verbs/evaluate/evaluation_result.hpp"
#include "verbs/to_json.hpp"

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
  object["calibration_error"] = or_null(measure::calibration_error(result.data_set->certainty));
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
  Json object = {{"chexbench_version", CHEXBENCH_VERSION},
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

// Two neighbours of a map along one axis, and the weight of the second.
struct Between {
  int first;
  int second;
  float share;
};

Between between(int pixel, int pixels, int places) {
  const float at = (static_cast<float>(pixel) + 0.5f) * static_cast<float>(places) / static_cast<float>(pixels) - 0.5f;
  const float inside = std::max(at, 0.0f);
  const int first = std::min(static_cast<int>(inside), places - 1);
  return {first, std::min(first + 1, places - 1), inside - static_cast<float>(first)};
}

// Returns the colour of a value from 0 (blue) by 0.5 (green) to 1 (red).
std::array<float, 3> tint(float value) {
  const auto slope = [value](float centre) { return std::clamp(1.5f - std::abs(4 * value - centre), 0.0f, 1.0f); };
  return {255 * slope(3), 255 * slope(2), 255 * slope(1)};
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

std::string evaluation_json(const EvaluationResult& result) { return indented_json(to_json(result)); }

std::string evaluation_html(const EvaluationResult& result) {
  const std::string title = fmt::format("{} of {}", result.network, result.data_set->root);
  return report::evaluation_page(title, to_json(result).dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::vector<std::uint8_t> class_map_image(std::span<const float> map, int rows, int columns,
                                          std::span<const std::uint8_t> gray, int size) {
  const auto [least, largest] = std::ranges::minmax_element(map);
  const float range = *largest > *least ? *largest - *least : 1;
  const auto value = [&](int row, int column) { return map[static_cast<std::size_t>(row * columns + column)]; };
  std::vector<std::uint8_t> rgb;
  rgb.reserve(gray.size() * 3);
  for (int y = 0; y < size; ++y) {
    const Between row = between(y, size, rows);
    for (int x = 0; x < size; ++x) {
      const Between column = between(x, size, columns);
      const auto along = [&](int of_row) {
        return std::lerp(value(of_row, column.first), value(of_row, column.second), column.share);
      };
      const float level = (std::lerp(along(row.first), along(row.second), row.share) - *least) / range;
      const float pixel = gray[static_cast<std::size_t>(y * size + x)];
      for (const float channel : tint(level)) rgb.push_back(static_cast<std::uint8_t>((pixel + channel) / 2 + 0.5f));
    }
  }
  return rgb;
}

std::vector<std::vector<std::byte>> class_map_pngs(const ScoreRow& row, int image_size) {
  image::PngWriter writer;
  std::vector<std::vector<std::byte>> files;
  for (const ClassMap& map : row.maps) {
    const auto rgb = class_map_image(map.values, map.rows, map.columns, row.seen, image_size);
    const std::span<const std::byte> file = writer.encode_rgb(rgb, image_size);
    files.emplace_back(file.begin(), file.end());
  }
  return files;
}

}  // namespace chexbench::verbs
