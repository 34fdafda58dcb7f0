#include "analysis/epoch_waits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/verdicts_of.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// The waits of a repeat: at the start of an epoch, and in the other steps.
struct Waits {
  double start_s = 0, steady_s = 0;
};

// Returns a trial of naive at one rank, after 3 steps of warm-up, over a sample of `images` X-rays. Batches have 16.
results::TrialResult over(int images, int steps, Waits waits, const char* pipeline = "naive") {
  results::TrialResult trial = results::make_trial({.pipeline = pipeline, .engine = "emulated:v100"}, {1, 1, 1});
  trial.data.images = static_cast<std::uint64_t>(images);
  trial.spec.training.batch_size = 16;
  trial.spec.measure.warmup_steps = 3;
  constexpr double kStepS = 0.02;
  for (results::RepeatResult& repeat : trial.repeats) {
    repeat.steps.clear();
    double wall_s = 0;
    for (int step = 0; step < steps; ++step) {
      const int first = (3 + step) * 16 % images;
      const double wait_s = first == 0 || first + 16 > images ? waits.start_s : waits.steady_s;
      repeat.steps.push_back(
          {.step = step, .timings = {.wall_s = wait_s + kStepS, .wait_s = wait_s, .compute_s = kStepS}});
      wall_s += wait_s + kStepS;
    }
    repeat.images_per_s = 16 * steps / wall_s;
  }
  return trial;
}

TEST(EpochWaits, TellStartsFromSteadySteps) {
  const std::optional<EpochWaits> waits = epoch_waits(over(4096, 600, {.start_s = 1, .steady_s = 0.001}));
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->starts, 2) << "256 steps an epoch";
  EXPECT_NEAR(*waits->steady_wait_share, 0.001 / 0.021, 1e-9);
  EXPECT_NEAR(waits->start_wait_s, 0.999, 1e-6);
  EXPECT_NEAR(*waits->steady_images_per_s, 16 / 0.021, 1e-6);
}

TEST(EpochWaits, GiveTheRateOfALargerSet) {
  const results::TrialResult trial = over(4096, 600, {.start_s = 1.001, .steady_s = 0.001});
  const double epoch_s = 112'000 / 16.0 * 0.021 + 1;
  EXPECT_NEAR(images_per_s_over(trial, *epoch_waits(trial), 112'000), 112'000 / epoch_s, 1e-6);
}

TEST(EpochWaits, DoNotExistWithoutAShuffleBeforeTheRepeat) {
  results::TrialResult trial = over(4096, 600, {});
  std::erase_if(trial.spec.pipeline.ops, [](const spec::OpSpec& op) { return op.op == "shuffle"; });
  EXPECT_FALSE(epoch_waits(trial));
}

TEST(EpochWaits, AreSaidApartFromASteadyInput) {
  const results::TrialResult trial = over(4096, 600, {.start_s = 6, .steady_s = 0.0005});
  EXPECT_EQ(limit_of(trial), "compute") << "12 of 24 s are waits, all at two starts";
  EXPECT_THAT(kinds_of(trial), ElementsAre("epoch_starts"));
  const std::string text = verdicts_of(trial).front().text;
  EXPECT_THAT(text, AllOf(HasSubstr("at the starts of epochs (2 of 600 steps)"), HasSubstr("it waits for 2.4 %")));
}

TEST(EpochWaits, AreSaidBesideASteadyStarvation) {
  const results::TrialResult trial = over(4096, 600, {.start_s = 6, .steady_s = 0.02});
  EXPECT_EQ(limit_of(trial), "input");
  EXPECT_THAT(kinds_of(trial), ElementsAre("starved", "epoch_starts"));
}

TEST(EpochWaits, OfASampleAsSmallAsTheShuffleSayNothing) {
  const results::TrialResult trial = over(512, 160, {.start_s = 0.4, .steady_s = 0.0005});
  EXPECT_EQ(limit_of(trial), "sample") << "the shuffle of 500 fills or drains in all steps";
  const results::Finding finding = verdicts_of(trial).front();
  EXPECT_EQ(finding.grade, results::Grade::sample_too_small);
  EXPECT_THAT(finding.text, HasSubstr("it shuffles 500 of a rank's 512 images"));
}

TEST(EpochWaits, OfStepsBeforeTheFirstStartSayNothingEither) {
  EXPECT_EQ(limit_of(over(512, 12, {.steady_s = 0.0001})), "sample") << "all steps live off the shuffle";
}

TEST(EpochWaits, OfASmallSampleThatHardlyWaitsSayThatItIsFed) {
  EXPECT_EQ(limit_of(over(512, 160, {.start_s = 0.001, .steady_s = 0.0001})), "compute");
}

TEST(EpochWaits, OfStepsThatWaitAlthoughTheyBeginNoEpochSayThatItStarves) {
  EXPECT_EQ(limit_of(over(512, 160, {.start_s = 0.4, .steady_s = 0.01})), "input");
}

TEST(EpochWaits, OfAShuffleOfRecordsLeaveAllOtherStepsSteady) {
  EXPECT_EQ(limit_of(over(512, 160, {.start_s = 0.4, .steady_s = 0.0001}, "optimized")), "compute");
}

}  // namespace
}  // namespace chexbench::analysis
