#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/learning.hpp"
#include "core/text.hpp"
#include "report/text_table.hpp"
#include "verbs/evaluate/evaluation_result.hpp"

namespace chexbench::verbs {
namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.3f}", *value) : ""; }

std::string interval(const measure::Estimate& estimate) {
  return estimate.ci95 ? fmt::format("{:.3f} to {:.3f}", estimate.ci95->low, estimate.ci95->high) : "";
}

std::string heading(const EvaluationResult& result) {
  std::string text = fmt::format("{} of {}", result.network, result.checkpoint);
  if (result.epochs > 0) text += fmt::format(", trained for {} epoch{}", result.epochs, result.epochs == 1 ? "" : "s");
  text += fmt::format(", {} pixels, {} on {}", result.image_size, result.precision, result.engine);
  if (result.crops > 1) text += fmt::format(", mean of {} crops", result.crops);
  return report::shown_line(text);
}

std::string data_set_heading(const EvaluationResult& result) {
  const DataSetScores& data_set = *result.data_set;
  const std::string of_patients = data_set.patients > 0 ? count_text(data_set.patients, "patient")
                                                        : "patients unknown, so each image counts as one";
  return report::shown_line(fmt::format("{} ({}) of split '{}' of {}", count_text(result.rows.size(), "image"),
                                        of_patients, data_set.split, data_set.root)) +
         fmt::format(
             "95 % intervals: percentile bootstrap over patients, {} resamples, seed {} (Field and Welsh 2007){}\n",
             measure::kBootstrapResamples, measure::kBootstrapSeed,
             data_set.classes ? "" : "; average precision without interpolation, as in scikit-learn");
}

// Returns a line for each label that the means leave out, or nothing.
std::string left_out(const EvaluationResult& result) {
  std::string text;
  for (std::size_t f = 0; f < result.labels.size(); ++f) {
    const measure::LabelScores& label = result.data_set->scores.labels[f];
    if (label.is_judged()) continue;
    text +=
        report::shown_line(fmt::format("{} has no AUROC and is left out of the means: {} image of the split has it.",
                                       result.labels[f], label.positives == 0 ? "no" : "every"));
  }
  return text;
}

std::string label_table(const EvaluationResult& result, const report::LineWidth& width) {
  report::TextTable table{.header = {"finding", "positives", "negatives", "AUROC", "95 % interval", "avg precision",
                                     "95 % interval", "Brier", "95 % interval"},
                          .rows = {},
                          .left_columns = 1,
                          .expendable = {8, 2, 6}};
  const bool has_published = analysis::has_published_aurocs(result.labels);
  const auto add_published = [&](const auto& figure_of) {
    if (!has_published) return;
    for (const analysis::PublishedAurocs& published : analysis::published_aurocs())
      table.rows.back().push_back(fmt::format("{:.3f}", figure_of(published)));
  };
  if (has_published) {
    for (const analysis::PublishedAurocs& published : analysis::published_aurocs()) {
      table.header.push_back(fmt::format("{}*", published.name));
      table.expendable.push_back(table.header.size() - 1);
    }
  }
  const auto add = [&table](std::vector<std::string> row, std::initializer_list<measure::Estimate> estimates) {
    for (const measure::Estimate& estimate : estimates) {
      row.push_back(number(estimate.value));
      row.push_back(interval(estimate));
    }
    table.rows.push_back(std::move(row));
  };
  const measure::ScoreSummary& scores = result.data_set->scores;
  for (std::size_t f = 0; f < result.labels.size(); ++f) {
    const measure::LabelScores& label = scores.labels[f];
    add({result.labels[f], grouped(label.positives), grouped(label.negatives)},
        {label.auroc, label.average_precision, label.brier});
    add_published([f](const analysis::PublishedAurocs& published) { return published.of[f]; });
  }
  add({"mean", "", ""}, {scores.mean_auroc, scores.mean_average_precision, scores.mean_brier});
  add_published([](const analysis::PublishedAurocs& published) { return published.mean; });
  return report::fitted_text(table, width, "--format csv");
}

// Returns the sources of the columns of published figures, or nothing.
std::string published_sources(const EvaluationResult& result) {
  if (!analysis::has_published_aurocs(result.labels)) return "";
  std::string text = fmt::format("\n* {}:\n", analysis::kPublishedOfOtherData);
  for (const analysis::PublishedAurocs& published : analysis::published_aurocs())
    text += fmt::format("  {}: {} ({})\n", published.name, published.images, published.source);
  return text;
}

// Returns top-1 and top-5 of all images, and of the most often mistaken classes.
std::string class_table(const EvaluationResult& result, const report::LineWidth& width) {
  constexpr std::size_t kMostRows = 20;
  const measure::ClassScores& scores = *result.data_set->classes;
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < scores.classes.size(); ++c)
    if (scores.classes[c].images > 0) order.push_back(c);
  const auto share = [](std::uint64_t part, std::uint64_t all) {
    return static_cast<double>(part) / static_cast<double>(all);
  };
  std::ranges::stable_sort(order, {},
                           [&](std::size_t c) { return share(scores.classes[c].in_top1, scores.classes[c].images); });
  report::TextTable table{.header = {"class", "images", "top-1", "95 % interval", "top-5", "95 % interval"},
                          .rows = {},
                          .left_columns = 1,
                          .expendable = {5, 3}};
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const measure::ClassAccuracy& of = scores.classes[order[i]];
    table.rows.push_back({result.labels[order[i]], grouped(of.images), number(share(of.in_top1, of.images)), "",
                          number(share(of.in_top5, of.images)), ""});
  }
  table.rows.push_back({"all", grouped(result.rows.size()), number(scores.top1.value), interval(scores.top1),
                        number(scores.top5.value), interval(scores.top5)});
  std::string text = report::fitted_text(table, width, "--format csv");
  if (order.size() > kMostRows) {
    text += fmt::format("\nThe {} classes with the lowest top-1, of {} that have images; --format csv has all.\n",
                        kMostRows, order.size());
  }
  return text;
}

std::string image_table(const EvaluationResult& result, const report::LineWidth& width) {
  report::TextTable table{.header = {"image", result.task == spec::Task::classes ? "class" : "finding", "probability"},
                          .rows = {},
                          .left_columns = 2};
  for (const ScoreRow& row : result.rows) {
    if (result.task == spec::Task::classes) {
      for (const std::size_t c : most_probable(row))
        table.rows.push_back({row.file, result.labels[c], fmt::format("{:.4f}", row.probabilities[c])});
      continue;
    }
    for (std::size_t f = 0; f < result.labels.size(); ++f)
      table.rows.push_back({row.file, result.labels[f], fmt::format("{:.4f}", row.probabilities[f])});
  }
  return report::fitted_text(table, width, "--format csv");
}

}  // namespace

std::vector<std::size_t> most_probable(const ScoreRow& row, std::size_t most) {
  std::vector<std::size_t> labels(row.probabilities.size());
  std::iota(labels.begin(), labels.end(), std::size_t{0});
  std::ranges::stable_sort(labels, std::greater{}, [&row](std::size_t label) { return row.probabilities[label]; });
  labels.resize(std::min(labels.size(), most));
  return labels;
}

std::string evaluation_table(const EvaluationResult& result, const report::LineWidth& width) {
  if (!result.data_set) return heading(result) + "\n" + image_table(result, width);
  if (result.data_set->classes) return heading(result) + data_set_heading(result) + "\n" + class_table(result, width);
  const std::string unjudged = left_out(result);
  return heading(result) + data_set_heading(result) + "\n" + label_table(result, width) + published_sources(result) +
         (unjudged.empty() ? "" : "\n" + unjudged);
}

}  // namespace chexbench::verbs
