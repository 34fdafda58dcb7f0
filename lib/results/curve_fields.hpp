// The points of ROC and reliability curves as rows of a table, which runs and evaluations share.
#pragma once

#include <cstddef>

#include "measure/roc.hpp"
#include "measure/scores.hpp"
#include "results/field.hpp"
#include "results/record.hpp"

namespace chexbench::results {

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
