#include "verbs/advise/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

AdviceTry attempt(double ratio, double low, double high, bool saves_memory = false) {
  return {
      .edit = "an_edit", .saves_memory = saves_memory, .ratio = measure::Ratio{ratio, measure::Interval{low, high}}};
}

TEST(Advice, KeepsAGainBeyondTheNoise) {
  EXPECT_TRUE(is_kept(attempt(1.03, 1.01, 1.05)));
  EXPECT_FALSE(is_kept(attempt(1.30, 0.95, 1.60)));
  EXPECT_FALSE(is_kept(attempt(0.90, 0.85, 0.95)));
}

TEST(Advice, KeepsWhatSavesMemoryAndLosesNothingBeyondTheNoise) {
  EXPECT_TRUE(is_kept(attempt(0.99, 0.95, 1.02, true)));
  EXPECT_FALSE(is_kept(attempt(0.95, 0.92, 0.98, true)));
}

TEST(Advice, TakesFivePercentAsNoiseWithoutAnInterval) {
  AdviceTry short_try{.ratio = measure::Ratio{1.04, {}}};
  EXPECT_FALSE(is_kept(short_try));
  short_try.ratio->value = 1.06;
  EXPECT_TRUE(is_kept(short_try));
  short_try.saves_memory = true;
  short_try.ratio->value = 0.96;
  EXPECT_TRUE(is_kept(short_try));
  short_try.ratio->value = 0.94;
  EXPECT_FALSE(is_kept(short_try));
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

TEST(AdviceJson, HoldsTheSame) {
  const auto object = nlohmann::json::parse(advice_json(an_advice()));
  EXPECT_EQ(object.at("ratio").at("value"), 2.1);
  EXPECT_EQ(object.at("tries").at(0).at("kept"), true);
  EXPECT_TRUE(object.at("tries").at(1).at("ratio").is_null());
  EXPECT_EQ(object.at("emulated"), true);
}

}  // namespace
}  // namespace chexbench::verbs
