// Sides of a comparison, made from trials or rates.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "results/record_factory.hpp"
#include "verbs/compare/compare.hpp"

namespace chexbench::verbs {

inline Side side(std::vector<results::TrialResult> trials, const std::string& name = "a side") {
  return {.name = name, .runs = {results::make_report(std::move(trials))}};
}

// Runs of one arm with one repeat each.
inline Side runs(const std::vector<double>& images_per_s) {
  Side all{.name = "runs", .runs = {}};
  for (const double rate : images_per_s) all.runs.push_back(results::make_report({results::make_trial({}, {rate})}));
  return all;
}

inline ComparedArm only_arm(const Side& base, const Side& other, const CompareOptions& options = {}) {
  const RunComparison comparison = compare_runs(base, other, options);
  EXPECT_THAT(comparison.arms, testing::SizeIs(1));
  return comparison.arms.at(0);
}

inline std::vector<std::string> keys(const std::vector<Difference>& differences) {
  std::vector<std::string> all;
  for (const Difference& difference : differences) all.push_back(difference.key);
  return all;
}

inline const std::vector<double> kBase{100, 101, 99, 100, 102, 98};
inline const std::vector<double> kTenPercentLess{90, 91, 89, 90, 92, 88};

}  // namespace chexbench::verbs
