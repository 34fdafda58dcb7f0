#include "analysis/evaluation.hpp"

#include <gtest/gtest.h>

#include "analysis/derive.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

TEST(Evaluation, HasTheFiguresOfEachTrialAndTheMeasuredOnesInTheirOrder) {
  const results::Report report = results::make_report(
      {results::make_trial({.pipeline = "naive"}, {100, 101, 99, 98, 97}),
       results::make_trial({.pipeline = "keras"}, {}), results::make_trial({}, {200, 201, 199, 198, 197})});
  const Evaluation evaluation(report);
  ASSERT_EQ(evaluation.figures.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const results::Figures alone = derive_figures(report.trials[i], report.trials);
    EXPECT_EQ(evaluation.figures[i].images_per_s, alone.images_per_s);
    EXPECT_EQ(evaluation.figures[i].images_per_s_ci95.has_value(), alone.images_per_s_ci95.has_value());
  }
  ASSERT_EQ(evaluation.measured.size(), 2U);
  EXPECT_EQ(&evaluation.measured[0].trial, &report.trials[0]);
  EXPECT_EQ(&evaluation.measured[1].trial, &report.trials[2]);
  EXPECT_EQ(evaluation.measured[1].images_per_s(), 199);
}

TEST(Evaluation, DerivesAblationsOnce) {
  const results::Report report =
      results::make_report({results::make_trial({.pipeline = "naive"}, {100}),
                            results::make_trial({.pipeline = "keras"}, {150}), results::make_trial({}, {200})});
  const Evaluation evaluation(report);
  ASSERT_EQ(evaluation.ablations().size(), 1U);
  EXPECT_EQ(evaluation.ablations().front().steps.size(), 3U);
  EXPECT_EQ(&evaluation.ablations(), &evaluation.ablations());
}

}  // namespace
}  // namespace chexbench::analysis
