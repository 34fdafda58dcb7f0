#include "bench/training/learning_rate.hpp"

#include <gtest/gtest.h>

namespace chexbench::bench {
namespace {

constexpr EpochPlan kPlan{.ranks = 4, .steps_per_epoch = 10};

spec::TrainingSpec training(spec::Schedule schedule) {
  return {.learning_rate = 0.1, .epochs = 8, .schedule = schedule};
}

TEST(LearningRate, StaysWhereNothingChangesIt) {
  const LearningRate rate(training(spec::Schedule::constant), kPlan);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(79), 0.1);
}

TEST(LearningRate, IsMultipliedByTheRanksWhereAskedFor) {
  spec::TrainingSpec scaled = training(spec::Schedule::constant);
  scaled.scale_learning_rate = true;
  EXPECT_DOUBLE_EQ(LearningRate(scaled, kPlan).at(5), 0.4);
}

TEST(LearningRate, RisesInTheWarmUp) {
  spec::TrainingSpec warm = training(spec::Schedule::constant);
  warm.warmup_epochs = 0.5;
  const LearningRate rate(warm, kPlan);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.1 / 5);
  EXPECT_DOUBLE_EQ(rate.at(3), 0.4 / 5);
  EXPECT_DOUBLE_EQ(rate.at(4), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(20), 0.1);
}

TEST(LearningRate, FallsAlongHalfACosineBehindTheWarmUp) {
  spec::TrainingSpec cosine = training(spec::Schedule::cosine);
  cosine.warmup_epochs = 2;
  const LearningRate rate(cosine, kPlan);
  EXPECT_DOUBLE_EQ(rate.at(20), 0.1);
  EXPECT_NEAR(rate.at(50), 0.05, 1e-12);  // half of the 60 steps after the warm-up
  EXPECT_GT(rate.at(79), 0);
  EXPECT_LT(rate.at(79), 0.0005);
}

TEST(LearningRate, FallsAtAPlateauAlone) {
  spec::TrainingSpec plateau = training(spec::Schedule::plateau);
  plateau.plateau_patience = 2;
  LearningRate rate(plateau, kPlan);
  for (const double loss : {0.5, 0.6, 0.4, 0.4}) rate.end_epoch(loss);
  EXPECT_DOUBLE_EQ(rate.at(40), 0.1);
  rate.end_epoch(0.45);  // the second in a row that is not below 0.4
  EXPECT_DOUBLE_EQ(rate.at(50), 0.01);
  rate.end_epoch(0.45);
  EXPECT_DOUBLE_EQ(rate.at(60), 0.01);
  rate.end_epoch(0.41);
  EXPECT_DOUBLE_EQ(rate.at(70), 0.001);
}

TEST(LearningRate, GoesOnFromItsState) {
  LearningRate rate(training(spec::Schedule::plateau), kPlan);
  for (const double loss : {0.5, 0.6}) rate.end_epoch(loss);
  LearningRate resumed(training(spec::Schedule::plateau), kPlan);
  resumed.resume(rate.state());
  for (LearningRate* const one : {&rate, &resumed}) one->end_epoch(0.55);
  EXPECT_DOUBLE_EQ(resumed.at(40), rate.at(40));
  EXPECT_DOUBLE_EQ(resumed.at(40), 0.001);
}

}  // namespace
}  // namespace chexbench::bench
