#include "bench/training/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "dataset/dataset.hpp"
#include "measure/auroc.hpp"
#include "measure/scores.hpp"
#include "spec/key_lists.hpp"

namespace chexbench::bench {
namespace {

// Returns the index of the image's class.
std::size_t class_of(const ScoredExample& values) {
  return static_cast<std::size_t>(std::ranges::find(values.labels, 1.0f) - values.labels.begin());
}

// Returns the softmax cross-entropy of the logits, averaged over images.
double softmax_loss(const std::vector<ScoredExample>& scored) {
  double sum = 0;
  for (const ScoredExample& values : scored) {
    const auto largest = static_cast<double>(std::ranges::max(values.logits));
    double exponentials = 0;
    for (const float logit : values.logits) exponentials += std::exp(static_cast<double>(logit) - largest);
    sum += largest + std::log(exponentials) - static_cast<double>(values.logits.at(class_of(values)));
  }
  return sum / static_cast<double>(scored.size());
}

// Returns the binary cross-entropy of the logits, averaged over images and labels, as the engines compute it: an
// ignored label counts as 0.
double mean_loss(const std::vector<ScoredExample>& scored) {
  double sum = 0;
  std::size_t count = 0;
  for (const ScoredExample& values : scored) {
    count += values.logits.size();
    for (std::size_t f = 0; f < values.logits.size(); ++f) {
      if (values.labels[f] == kIgnoredLabel) continue;
      const auto z = static_cast<double>(values.logits[f]), t = static_cast<double>(values.labels[f]);
      sum += std::max(z, 0.0) - z * t + std::log1p(std::exp(-std::abs(z)));
    }
  }
  return sum / static_cast<double>(count);
}

measure::ScoredImages table_of(const std::vector<ScoredExample>& scored, const dataset::Dataset& images) {
  measure::ScoredImages table{.columns = images.label_names.size(), .scores = {}, .labels = {}, .patients = {}};
  for (const ScoredExample& values : scored) {
    table.patients.push_back(images.images.at(values.image).patient);
    for (const float logit : values.logits) {
      // A diverged network ranks nothing, and NaN cannot be ordered.
      table.scores.push_back(std::isnan(logit) ? 0.0f : logit);
    }
    for (const float label : values.labels) table.labels.push_back(measure::truth_of(label));
  }
  return table;
}

void score(const measure::ScoredImages& scored, const std::vector<std::string>& labels, results::EpochRecord& epoch) {
  const measure::AurocSummary summary = measure::summarize_auroc(scored);
  epoch.mean_auroc = summary.mean;
  epoch.mean_auroc_ci95 = summary.mean_ci95;
  for (std::size_t f = 0; f < summary.labels.size(); ++f) {
    const measure::LabelAuroc& label = summary.labels[f];
    epoch.scores.push_back({labels[f], label.value, label.ci95, label.positives, label.negatives});
  }
}

void score_classes(const std::vector<ScoredExample>& scored, const dataset::Dataset& images,
                   results::EpochRecord& epoch) {
  std::vector<measure::PlacedImage> placed;
  for (const ScoredExample& values : scored) {
    const std::size_t right = class_of(values);
    placed.push_back({.label = static_cast<std::uint32_t>(right),
                      .patient = images.images.at(values.image).patient,
                      .place = measure::place_of_class(values.logits, right)});
  }
  const measure::ClassScores scores = measure::summarize_classes(placed, images.label_names.size());
  epoch.top1 = scores.top1.value;
  epoch.top1_ci95 = scores.top1.ci95;
  epoch.top5 = scores.top5.value;
}

// Broadcasts from rank 0 the figures on which all ranks base decisions.
void share(results::EpochRecord& epoch, comm::Communicator& communicator) {
  double numbers[] = {epoch.validation_loss, epoch.mean_auroc.value_or(-1), epoch.top1.value_or(-1)};
  communicator.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  epoch.validation_loss = numbers[0];
  epoch.mean_auroc = numbers[1] < 0 ? std::nullopt : std::optional(numbers[1]);
  epoch.top1 = numbers[2] < 0 ? std::nullopt : std::optional(numbers[2]);
}

}  // namespace

Validation validate(const ScoringContext& context) {
  Validation validation;
  results::EpochRecord& epoch = validation.epoch;
  const std::vector<ScoredExample> scored = score_images(context);
  if (context.communicator.rank() == 0) {
    if (scored.empty()) {
      throw DataError(fmt::format("validation: none of its {} images could be read", context.images.images.size()));
    }
    epoch.validation_images = scored.size();
    if (scored.size() < context.images.images.size()) {
      log::warning(
          "validation: {} of its {} images are missing or could not be read: `chexbench data check` names them",
          context.images.images.size() - scored.size(), context.images.images.size());
    }
    const bool exclusive = context.spec.training.task == spec::Task::classes;
    epoch.validation_loss = exclusive ? softmax_loss(scored) : mean_loss(scored);
    if (exclusive) {
      score_classes(scored, context.images, epoch);
    } else {
      validation.scored = table_of(scored, context.images);
      score(validation.scored, context.images.label_names, epoch);
    }
  }
  share(epoch, context.communicator);
  return validation;
}

std::vector<results::LabelCurves> curves_of(const Validation& validation) {
  const measure::RocSummary roc = measure::summarize_roc(validation.scored);
  const std::vector<measure::LabelColumn> columns = measure::label_columns(validation.scored);
  std::vector<results::LabelCurves> curves;
  for (std::size_t f = 0; f < columns.size(); ++f) {
    std::vector<float> probabilities;
    for (const float logit : columns[f].scores)
      probabilities.push_back(static_cast<float>(1 / (1 + std::exp(-static_cast<double>(logit)))));
    curves.push_back({.label = validation.epoch.scores[f].label,
                      .roc = roc.labels[f],
                      .reliability = measure::reliability(probabilities, columns[f].has_label)});
  }
  return curves;
}

double validation_score(const results::EpochRecord& epoch) {
  return epoch.top1 ? *epoch.top1 : epoch.mean_auroc.value_or(-epoch.validation_loss);
}

int epochs_without_better(const std::vector<results::EpochRecord>& epochs) {
  const auto best = std::ranges::max_element(epochs, {}, validation_score);
  return best == epochs.end() ? 0 : static_cast<int>(epochs.end() - best) - 1;
}

namespace {

// The number of images for which a label is known, and of those with it.
struct LabelCount {
  std::size_t known = 0;
  std::size_t with = 0;
};

std::vector<LabelCount> count_labels(const dataset::Dataset& images) {
  std::vector<LabelCount> counts(images.label_names.size(), {.known = images.images.size()});
  const std::size_t may_be_ignored = std::min(counts.size(), LabelBits::kMostIgnored);
  for (const dataset::ImageEntry& image : images.images) {
    image.labels.for_each([&counts](std::size_t label) { ++counts.at(label).with; });
    for (std::size_t label = 0; label < may_be_ignored; ++label)
      if (image.labels.is_ignored(label)) --counts[label].known;
  }
  return counts;
}

std::vector<float> balanced(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  const std::vector<LabelCount> counts = count_labels(images);
  const bool exclusive = spec.training.task == spec::Task::classes;
  std::vector<float> weights;
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const auto with = static_cast<double>(counts[label].with), all = static_cast<double>(counts[label].known);
    if (with == 0 || (!exclusive && with == all)) {
      throw DataError(
          fmt::format("training.class_weights is balanced, but {} of the {} images that train has '{}', so nothing "
                      "balances it: give numbers in its place",
                      with == 0 ? "none" : "each", counts[label].known, printable(images.label_names[label])));
    }
    weights.push_back(static_cast<float>(exclusive ? all / static_cast<double>(counts.size()) / with : all / with - 1));
  }
  return weights;
}

}  // namespace

void check_task(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  if (spec.training.task != spec::Task::classes) return;
  std::vector<std::size_t> labels;  // of one image; reused, because a data set may have a million
  for (const dataset::ImageEntry& image : images.images) {
    labels.clear();
    image.labels.for_each([&labels](std::size_t label) { labels.push_back(label); });
    if (labels.size() == 1) continue;
    const auto name = [&](std::size_t i) { return printable(images.label_names.at(labels[i])); };
    throw DataError(fmt::format(
        "training.task is classes, of which each image has exactly one, but {} of {} has {}: its labels are no "
        "exclusive classes; set training.task to multi_label",
        printable(image.name), printable(spec.data.root),
        labels.empty() ? "none" : fmt::format("{}, among them '{}' and '{}'", labels.size(), name(0), name(1))));
  }
}

std::vector<float> class_weights(const spec::TrialSpec& spec, const dataset::Dataset& images) {
  if (spec::balances_classes(spec.training)) {
    if (spec.training.epochs == 0) return balanced(spec, images);
    return balanced(spec, dataset::split_for_epochs(images, spec.training.validation_share).training);
  }
  std::vector<float> weights = spec::stated_class_weights(spec.training);
  const std::size_t labels = images.label_names.size();
  if (weights.size() == 1) weights.resize(labels, weights.front());
  if (weights.empty() || weights.size() == labels) return weights;
  throw SpecError(
      fmt::format("training.class_weights has {} numbers, and the images have {} labels: give one for all, "
                  "or one for each",
                  weights.size(), labels));
}

}  // namespace chexbench::bench
