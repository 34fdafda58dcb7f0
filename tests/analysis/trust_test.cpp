#include "analysis/trust.hpp"

#include <gtest/gtest.h>

#include "results/labels.hpp"
#include "results/rates.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using results::Grade;

results::TrialResult naive(const std::vector<double>& images_per_s) {
  return results::make_trial({.pipeline = "naive"}, images_per_s);
}
results::TrialResult optimized(const std::vector<double>& images_per_s) {
  return results::make_trial({}, images_per_s);
}

Grade grade_of(const results::TrialResult& a, const results::TrialResult& b) {
  return analysis::grade_of(a, b, results::paired_rates(a, b).value());
}

// Lets other processes take `share` of the cores in a repeat.
void disturb(results::TrialResult& trial, std::size_t repeat, double share) {
  trial.repeats[repeat].disturbance = {
      .core_s = 1, .others_s = share, .own_cpu_s = 1 - share, .own_wait_s = share, .span_s = 1};
}

TEST(Grade, TellsApartWhatEveryRoundTellsApart) {
  EXPECT_EQ(grade_of(naive({100, 101, 99, 100, 102}), optimized({110, 111, 112, 109, 110})), Grade::told_apart);
}

TEST(Grade, CannotTellWhereRoundsContradictEachOther) {
  EXPECT_EQ(grade_of(naive({100, 101, 99, 100, 102}), optimized({101, 100, 99, 101, 100})), Grade::cannot_tell);
  EXPECT_EQ(grade_of(naive({100, 100, 100, 100, 100, 100}), optimized({150, 150, 150, 150, 150, 99})),
            Grade::cannot_tell)
      << "one of six contradicts";
}

TEST(Grade, OfFewerThanFiveRoundsIsThatTheyAreTooFew) {
  EXPECT_EQ(grade_of(naive({100, 100}), optimized({200, 200})), Grade::sample_too_small);
}

TEST(Grade, OfTrialsThatLivedOffTheirBuffersIsThatTheyAreTooShort) {
  results::TrialResult trial = optimized({200, 200, 200, 200, 200});
  trial.repeats[1].buffer_fed = true;
  EXPECT_EQ(grade_of(naive({100, 100, 100, 100, 100}), trial), Grade::told_apart) << "one of five";
  trial.repeats[2].buffer_fed = true;
  EXPECT_EQ(grade_of(naive({100, 100, 100, 100, 100}), trial), Grade::sample_too_small);
}

TEST(Grade, OfARatioThatOthersMayHaveMadeIsThatTheMachineWasTooBusy) {
  results::TrialResult slowed = optimized({70, 71, 70, 72, 70});
  for (std::size_t repeat = 0; repeat < 5; ++repeat) disturb(slowed, repeat, 0.35);
  EXPECT_EQ(grade_of(slowed, naive({100, 101, 99, 100, 102})), Grade::machine_too_busy);
}

TEST(Grade, OfADifferenceThatOthersCannotHaveMadeIsThatItIsTold) {
  results::TrialResult slowed = optimized({30, 31, 30, 32, 30});
  for (std::size_t repeat = 0; repeat < 5; ++repeat) disturb(slowed, repeat, 0.35);
  EXPECT_EQ(grade_of(slowed, naive({100, 101, 99, 100, 102})), Grade::told_apart);
}

TEST(Grade, LooksAtUndisturbedRoundsAloneIfTheyAreEnough) {
  results::TrialResult a = naive({100, 101, 99, 100, 102, 20});
  disturb(a, 5, 0.5);
  EXPECT_EQ(grade_of(a, optimized({110, 111, 112, 109, 110, 111})), Grade::told_apart);
  EXPECT_EQ(results::figures_of(a).images_per_s, 100) << "of the five that count";
  EXPECT_EQ(results::paired_rates(a, optimized({100, 101, 99, 100, 102, 100}))->value, 1);
}

TEST(Grade, TakesOthersOnIdleCoresForNoDisturbance) {
  results::TrialResult beside = optimized({70, 71, 70, 72, 70});
  for (results::RepeatResult& repeat : beside.repeats)
    repeat.disturbance = {.core_s = 2, .others_s = 1, .own_cpu_s = 1, .own_wait_s = 0.01, .span_s = 1};
  EXPECT_EQ(grade_of(beside, naive({100, 101, 99, 100, 102})), Grade::told_apart);
  for (results::RepeatResult& repeat : beside.repeats)
    repeat.disturbance = {.core_s = 2, .others_s = 0.02, .own_cpu_s = 1.98, .own_wait_s = 8, .span_s = 1};
  EXPECT_EQ(grade_of(beside, naive({100, 101, 99, 100, 102})), Grade::told_apart)
      << "its own threads wait for each other";
}

TEST(Grade, HasTheSameWordsInFilesAsInTables) {
  for (const Grade grade : {Grade::told_apart, Grade::cannot_tell, Grade::machine_too_busy, Grade::sample_too_small}) {
    EXPECT_EQ(results::grade_from(results::to_string(grade)), grade);
  }
}

}  // namespace
}  // namespace chexbench::analysis
