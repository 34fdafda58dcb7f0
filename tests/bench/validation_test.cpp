#include "bench/training/validation.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace chexbench::bench {
namespace {

// Returns epochs with these mean AUROCs (nullopt: no finding has one) and a loss of 0.7.
std::vector<results::EpochRecord> epochs(const std::vector<std::optional<double>>& aurocs) {
  std::vector<results::EpochRecord> records;
  for (const std::optional<double>& auroc : aurocs) records.push_back({.validation_loss = 0.7, .mean_auroc = auroc});
  return records;
}

TEST(EpochsWithoutBetter, CountsFromTheFirstOfTheBest) {
  EXPECT_EQ(epochs_without_better({}), 0);
  EXPECT_EQ(epochs_without_better(epochs({0.6})), 0);
  EXPECT_EQ(epochs_without_better(epochs({0.6, 0.7, 0.65, 0.7})), 2) << "as good is not better";
  EXPECT_EQ(epochs_without_better(epochs({0.6, 0.7, 0.65, 0.8})), 0);
}

TEST(EpochsWithoutBetter, LooksAtTheLossWhereNoFindingHasAnAuroc) {
  std::vector<results::EpochRecord> records = epochs({{}, {}, {}});
  EXPECT_EQ(epochs_without_better(records), 2);
  records[1].validation_loss = 0.5;
  EXPECT_EQ(epochs_without_better(records), 1);
}

}  // namespace
}  // namespace chexbench::bench
