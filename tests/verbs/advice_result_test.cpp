#include "verbs/advise/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns a try whose grade follows from its interval alone.
AdviceTry attempt(double ratio, double low, double high, bool saves_memory = false) {
  const bool told = low > 1 || high < 1;
  return {.edit = "an_edit",
          .saves_memory = saves_memory,
          .ratio = measure::Ratio{ratio, measure::Interval{low, high}},
          .grade = told ? results::Grade::told_apart : results::Grade::cannot_tell};
}

TEST(Advice, KeepsAGainBeyondTheNoise) {
  EXPECT_TRUE(is_kept(attempt(1.03, 1.01, 1.05)));
  EXPECT_FALSE(is_kept(attempt(1.30, 0.95, 1.60)));
  EXPECT_FALSE(is_kept(attempt(0.90, 0.85, 0.95)));
}

TEST(Advice, KeepsWhatSavesMemoryAndLosesNothingBeyondTheNoise) {
  EXPECT_TRUE(is_kept(attempt(0.99, 0.96, 1.02, true)));
  EXPECT_FALSE(is_kept(attempt(0.95, 0.92, 0.98, true)));
  EXPECT_FALSE(is_kept(attempt(1.00, 0.70, 1.40, true))) << "a loss of 30 % is not excluded";
}

TEST(Advice, KeepsNothingThatABusyMachineOrTooFewRepeatsLeaveOpen) {
  AdviceTry busy = attempt(2, 1.8, 2.2);
  busy.grade = results::Grade::machine_too_busy;
  EXPECT_FALSE(is_kept(busy));
  busy.saves_memory = true;
  EXPECT_FALSE(is_kept(busy));
  EXPECT_FALSE(is_kept({.ratio = measure::Ratio{2, {}}, .grade = results::Grade::sample_too_small}));
}

TEST(Advice, KeepsNothingThatWasNotTried) { EXPECT_FALSE(is_kept({.predicted_ratio = 9})); }

Advice an_advice() {
  Advice advice{.trial = "naive png",
                .ranks = 2,
                .emulated = true,
                .images_per_s_before = 100,
                .images_per_s_after = 210,
                .ratio = measure::Ratio{2.1, measure::Interval{2.0, 2.2}},
                .verdict = "naive png starves its accelerator."};
  advice.tries = {attempt(2.1, 2.0, 2.2), {.edit = "another", .why = "it is there", .predicted_ratio = 1.25}};
  advice.tries[0].predicted_ratio = 1.97;
  advice.tries[0].images_per_s = 209.5;
  advice.tries[0].kept = true;
  return advice;
}

TEST(AdviceTable, ShowsWhatWasPredictedMeasuredAndKept) {
  const std::string table = advice_table(an_advice());
  EXPECT_THAT(table, HasSubstr("naive png starves its accelerator."));
  EXPECT_THAT(table, testing::ContainsRegex("an_edit +1.97 x +2.10 x +2.00 .. 2.20 +209.5 +yes"));
  EXPECT_THAT(table, testing::ContainsRegex("another +1.25 x +not tried"));
  EXPECT_THAT(table, HasSubstr("naive png (emulated): 2.10 x the images/s with what was kept (95 % interval 2.00 .. "
                               "2.20): 210.0 against 100.0."));
  EXPECT_THAT(table, Not(HasSubstr("--budget")));
}

TEST(AdviceTable, SaysWhereNothingHelpsOrTheTimeWasUp) {
  Advice advice = an_advice();
  advice.ratio.reset();
  advice.out_of_time = true;
  EXPECT_THAT(advice_table(advice), AllOf(HasSubstr("nothing that was tried is faster"), HasSubstr("--budget")));
  for (AdviceTry& attempt : advice.tries) attempt.ratio.reset();
  EXPECT_THAT(advice_table(advice), AllOf(HasSubstr("nothing is known of what promises up to 1.97 x"),
                                          Not(HasSubstr("nothing that was tried is faster"))));
}

TEST(AdviceTable, SaysWhyWhatWasTriedWasNotKept) {
  Advice advice = an_advice();
  advice.tries[0].kept = false;
  advice.tries[0].grade = results::Grade::machine_too_busy;
  advice.ratio.reset();
  EXPECT_THAT(advice_table(advice), AllOf(HasSubstr("no: machine too busy"),
                                          HasSubstr("nothing can be shown to be faster, as the machine was too busy")));
}

TEST(AdviceTable, SaysWhatALaterEditReplaced) {
  Advice advice = an_advice();
  advice.tries[0].kept = false;
  advice.tries[0].replaced = true;
  EXPECT_THAT(advice_table(advice), HasSubstr("replaced by a later one"));
}

TEST(AdviceTable, SaysThatWhatCannotBeShownToBeFasterTogetherIsWithdrawn) {
  Advice advice = an_advice();
  advice.withdrawn = true;
  advice.grade = results::Grade::cannot_tell;
  EXPECT_THAT(advice_table(advice), HasSubstr("cannot be shown to be faster all together (cannot be told: 210.0 "
                                              "images/s against 100.0), so the spec stays as it was."));
}

TEST(AdviceJson, HoldsTheSame) {
  const auto object = nlohmann::json::parse(advice_json(an_advice()));
  EXPECT_EQ(object.at("ratio").at("value"), 2.1);
  EXPECT_EQ(object.at("tries").at(0).at("kept"), true);
  EXPECT_EQ(object.at("tries").at(0).at("grade"), "told apart");
  EXPECT_TRUE(object.at("tries").at(1).at("ratio").is_null());
  EXPECT_EQ(object.at("emulated"), true);
}

}  // namespace
}  // namespace chexbench::verbs
