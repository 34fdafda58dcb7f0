// The results of one epoch of a training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/auroc.hpp"
#include "measure/scores.hpp"
#include "measure/statistics.hpp"
#include "results/field.hpp"

namespace chexbench::results {

// How well a trained network predicts one label of the validation images.
struct LabelScore {
  std::string label;
  std::optional<double> auroc;
  std::optional<measure::Interval> auroc_ci95;
  std::uint64_t positives = 0;
  std::uint64_t negatives = 0;
};
template <class Visitor, MaybeConst<LabelScore> Record>
void visit_fields(Visitor&& visit, Record& score) {
  visit(Field{"finding", "", "label of the images"}, score.label);
  visit(Field{"auroc", "1", "area under the ROC curve of the label", "all images or none have the label"}, score.auroc);
  visit(Field{"auroc_ci95", "1", "95 % interval of auroc over patients, by bootstrap",
              "auroc is, or it was not computed"},
        score.auroc_ci95);
  visit(Field{"positives", "images", "validation images with the label"}, score.positives);
  visit(Field{"negatives", "images", "validation images without it"}, score.negatives);
}

// How well the probabilities of one label separate the validation images, and how well they are calibrated.
struct LabelCurves {
  std::string label;
  measure::RocCurve roc;
  measure::Reliability reliability = {};
};
template <class Visitor, MaybeConst<LabelCurves> Record>
void visit_fields(Visitor&& visit, Record& label) {
  visit("finding", label.label);
  visit("roc", label.roc);
  visit("reliability", label.reliability);
}

// The points of the curves as rows of a table.
template <class Visitor>
void visit_roc_point(Visitor&& visit, const LabelCurves& label, std::size_t point) {
  const measure::Estimate& estimate = label.roc.at(point);
  visit(Field{"finding", "", "label of the images"}, label.label);
  visit(Field{"false_positive_rate", "1", "share of the images without the label that score above a threshold"},
        measure::false_positive_rate_at(point));
  visit(Field{"sensitivity", "1", "share of the images with the label above that threshold",
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
  visit(Field{"from", "1", "start of the bin"}, static_cast<double>(i) / measure::kReliabilityBins);
  visit(Field{"to", "1", "end of the bin, included only in the last"},
        static_cast<double>(i + 1) / measure::kReliabilityBins);
  visit(Field{"images", "images", "images in the bin"}, bin.images);
  visit(Field{"positives", "images", "images in the bin with the label"}, bin.positives);
  visit(Field{"mean_probability", "1", "mean of their probabilities", "the bin has no image"}, bin.mean_probability());
  visit(Field{"share_of_positives", "1", "share of them with the label", "the bin has no image"},
        bin.share_of_positives());
}

// One epoch of a training, all ranks together.
struct EpochRecord {
  int epoch = 0;
  double learning_rate = 0;
  double training_loss = 0;
  double validation_loss = 0;
  std::optional<double> mean_auroc;
  std::optional<measure::Interval> mean_auroc_ci95;
  std::optional<double> top1;
  std::optional<measure::Interval> top1_ci95;
  std::optional<double> top5;
  std::uint64_t validation_images = 0;
  double validation_s = 0;
  double elapsed_s = 0;
  std::vector<LabelScore> scores;
  std::vector<LabelCurves> curves;  // of the best epoch of a repeat so far; empty for the others
};
template <class Visitor, MaybeConst<EpochRecord> Record>
void visit_fields(Visitor&& visit, Record& epoch) {
  visit(Field{"epoch", "", "number of the epoch, from 1"}, epoch.epoch);
  visit(Field{"learning_rate", "", "learning rate of the epoch's last step"}, epoch.learning_rate);
  visit(
      Field{"training_loss", "", "mean cross-entropy of the steps before their updates, all ranks", "it is not finite"},
      epoch.training_loss);
  visit(Field{"validation_loss", "", "mean cross-entropy of the validation images after the epoch", "it is not finite"},
        epoch.validation_loss);
  visit(Field{"mean_auroc", "1", "mean AUROC of the labels that have one", "no label has one"}, epoch.mean_auroc);
  visit(Field{"mean_auroc_ci95", "1", "95 % interval of mean_auroc over patients, by bootstrap",
              "mean_auroc is, or it was not computed"},
        epoch.mean_auroc_ci95);
  visit(Field{"top1", "1", "share of images with their class on top", "training.task is not classes"}, epoch.top1);
  visit(Field{"top1_ci95", "1", "95 % interval of top1 over patients, by bootstrap", "training.task is not classes"},
        epoch.top1_ci95);
  visit(Field{"top5", "1", "share of images with their class in the top five", "training.task is not classes"},
        epoch.top5);
  visit(Field{"validation_images", "images", "images that were validated on"}, epoch.validation_images);
  visit(Field{"validation_s", "s", "duration of the validation"}, epoch.validation_s);
  visit(Field{"elapsed_s", "s", "time since the training began, with validations and earlier checkpoints"},
        epoch.elapsed_s);
}
template <class Visitor, MaybeConst<EpochRecord> Record>
void visit_lists(Visitor&& visit, Record& epoch) {
  visit("findings", epoch.scores);
  visit("curves", epoch.curves);
}

}  // namespace chexbench::results
