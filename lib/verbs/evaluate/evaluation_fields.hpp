// The fields of an evaluation, which its JSON and its CSV share.
#pragma once

#include <optional>
#include <string>

#include "verbs/evaluate/evaluation_result.hpp"

namespace chexbench::verbs {

template <class Visitor>
void visit_estimate(Visitor&& visit, const std::string& name, const measure::Estimate& estimate) {
  visit(name.c_str(), estimate.value);
  visit((name + "_ci95_low").c_str(), estimate.ci95 ? std::optional(estimate.ci95->low) : std::nullopt);
  visit((name + "_ci95_high").c_str(), estimate.ci95 ? std::optional(estimate.ci95->high) : std::nullopt);
}

template <class Visitor>
void visit_class(Visitor&& visit, const measure::ClassAccuracy& of_class) {
  const auto share = [&of_class](std::uint64_t part) {
    return of_class.images == 0 ? std::nullopt
                                : std::optional(static_cast<double>(part) / static_cast<double>(of_class.images));
  };
  visit("images", of_class.images);
  visit("top1", share(of_class.in_top1));
  visit("top5", share(of_class.in_top5));
}

template <class Visitor>
void visit_label(Visitor&& visit, const measure::LabelScores& label) {
  visit("positives", label.positives);
  visit("negatives", label.negatives);
  visit_estimate(visit, "auroc", label.auroc);
  visit_estimate(visit, "average_precision", label.average_precision);
  visit_estimate(visit, "brier", label.brier);
}

}  // namespace chexbench::verbs
