#include "bench/training/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "measure/auroc.hpp"
#include "measure/top_k.hpp"

namespace chexbench::bench {
namespace {

// Returns the index of the image's class.
std::size_t class_of(const ScoredExample& values) {
  return static_cast<std::size_t>(std::ranges::find(values.labels, 1.0f) - values.labels.begin());
}

// Returns the cross-entropy of the softmax of the logits, the mean over images.
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

// Returns the binary cross-entropy of the logits, the mean over images and labels, as the engines compute it.
double mean_loss(const std::vector<ScoredExample>& scored) {
  double sum = 0;
  std::size_t count = 0;
  for (const ScoredExample& values : scored) {
    count += values.logits.size();
    for (std::size_t f = 0; f < values.logits.size(); ++f) {
      const auto z = static_cast<double>(values.logits[f]), t = static_cast<double>(values.labels[f]);
      sum += std::max(z, 0.0) - z * t + std::log1p(std::exp(-std::abs(z)));
    }
  }
  return sum / static_cast<double>(count);
}

void score(const std::vector<ScoredExample>& scored, const dataset::Dataset& images, results::EpochRecord& epoch) {
  measure::ScoredImages table{.columns = images.label_names.size(), .scores = {}, .labels = {}, .patients = {}};
  for (const ScoredExample& values : scored) {
    table.patients.push_back(images.images.at(values.image).patient);
    for (const float logit : values.logits) {
      // A network that has diverged ranks nothing, and NaN would have no place in the order of scores.
      table.scores.push_back(std::isnan(logit) ? 0.0f : logit);
    }
    for (const float label : values.labels) table.labels.push_back(label != 0 ? 1 : 0);
  }
  const measure::AurocSummary summary = measure::summarize_auroc(table);
  epoch.mean_auroc = summary.mean;
  epoch.mean_auroc_ci95 = summary.mean_ci95;
  for (std::size_t f = 0; f < summary.labels.size(); ++f) {
    const measure::LabelAuroc& label = summary.labels[f];
    epoch.scores.push_back({images.label_names[f], label.value, label.ci95, label.positives, label.negatives});
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

// Sends the figures by which all ranks decide from rank 0 to the others.
void share(results::EpochRecord& epoch, comm::Communicator& communicator) {
  double numbers[] = {epoch.validation_loss, epoch.mean_auroc.value_or(-1), epoch.top1.value_or(-1)};
  communicator.broadcast(std::as_writable_bytes(std::span(numbers)), 0);
  epoch.validation_loss = numbers[0];
  epoch.mean_auroc = numbers[1] < 0 ? std::nullopt : std::optional(numbers[1]);
  epoch.top1 = numbers[2] < 0 ? std::nullopt : std::optional(numbers[2]);
}

}  // namespace

results::EpochRecord validate(const ScoringContext& context) {
  results::EpochRecord epoch;
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
    (exclusive ? score_classes : score)(scored, context.images, epoch);
  }
  share(epoch, context.communicator);
  return epoch;
}

double validation_score(const results::EpochRecord& epoch) {
  return epoch.top1 ? *epoch.top1 : epoch.mean_auroc.value_or(-epoch.validation_loss);
}

}  // namespace chexbench::bench
