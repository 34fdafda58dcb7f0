#include "verbs/comm/comm_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"

namespace chexbench::verbs {
namespace {

CommRow row(int ranks, std::uint64_t bytes, double time_s) {
  return {.ranks = ranks, .bytes = bytes, .time_s = time_s};
}

// alpha 10 us, beta 1 GB/s: 2 (n-1) 10 us + 2 (n-1)/n S / 1e9.
std::vector<CommRow> exact_rows() {
  return {row(2, 8, 20e-6 + 8e-9), row(2, 1'000'000, 20e-6 + 1e-3), row(4, 8, 60e-6 + 12e-9),
          row(4, 1'000'000, 60e-6 + 1.5e-3)};
}

TEST(FitLink, FindsTheFiguresThatTheTimesWereMadeOf) {
  std::vector<CommRow> rows = exact_rows();
  const auto fit = fit_link(rows);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->alpha_s, 10e-6, 1e-8);
  EXPECT_NEAR(fit->beta_bytes_per_s, 1e9, 1e6);
  EXPECT_LT(fit->worst_error, 1e-3);
}

TEST(FitLink, SaysWhatItCovers) {
  std::vector<CommRow> rows = exact_rows();
  const auto fit = fit_link(rows);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->min_ranks, 2);
  EXPECT_EQ(fit->max_ranks, 4);
  EXPECT_EQ(fit->min_bytes, 8u);
  EXPECT_EQ(fit->max_bytes, 1'000'000u);
}

TEST(FitLink, LeavesItsErrorWithEachRow) {
  // Twice and half of one size's time: the best is their geometric mean, 2 ms.
  std::vector<CommRow> rows{row(2, 1'000'000, 1e-3), row(2, 1'000'000, 4e-3)};
  const auto fit = fit_link(rows);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(rows[0].fit_error, 1, 1e-3);
  EXPECT_NEAR(rows[1].fit_error, -0.5, 1e-3);
  EXPECT_NEAR(fit->worst_error, 1, 1e-3);
}

TEST(FitLink, GivesSmallSizesTheWeightOfLargeOnes) {
  std::vector<CommRow> rows = exact_rows();
  rows[1].time_s *= 1.1;  // 10 % of a millisecond is five times the whole time of 8 bytes
  const auto fit = fit_link(rows);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->alpha_s, 10e-6, 1e-6);
}

TEST(FitLink, SaysNoLatencyWhereNoneIsSeen) {
  std::vector<CommRow> rows{row(2, 1'000'000, 0.9e-3), row(2, 2'000'000, 2e-3), row(2, 4'000'000, 4.04e-3)};
  // The smallest size takes less time than its bandwidth alone would.
  const auto fit = fit_link(rows);
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->alpha_s, 0);
}

TEST(FitLink, IsEmptyWhereTimesDoNotGrowWithBytes) {
  std::vector<CommRow> rows{row(2, 8, 50e-6), row(2, 16, 50e-6), row(2, 32, 50e-6)};
  EXPECT_FALSE(fit_link(rows));
  std::vector<CommRow> one{row(2, 1'000'000, 1e-3)};
  EXPECT_FALSE(fit_link(one));
}

TEST(CommRow, ReckonsBandwidthsAsNcclTestsDo) {
  EXPECT_DOUBLE_EQ(row(4, 8'000'000, 0.004).algbw_bytes_per_s(), 2e9);
  EXPECT_DOUBLE_EQ(row(4, 8'000'000, 0.004).busbw_bytes_per_s(), 3e9);  // x 2 * 3/4
}

// 30 ms forward, 60 ms backward, 10 ms update; one bucket of 4 MB, complete at the end of backward.
engine::StepPlan plan() {
  return {.forward_s = 0.03,
          .backward_s = 0.06,
          .update_s = 0.01,
          .buckets = {{.ready_s = 0.06, .elements = 1'000'000}},
          .notes = {}};
}

spec::CommSpec link(double alpha_s, double beta_bytes_per_s) {
  spec::CommSpec comm;
  comm.alpha_s = alpha_s;
  comm.beta_bytes_per_s = beta_bytes_per_s;
  return comm;
}

TEST(OverlappedStep, AddsWhatBackwardDoesNotHide) {
  const spec::CommSpec comm = link(1e-3, 100e6);
  EXPECT_NEAR(overlapped_step_s(plan(), 1, comm), 0.1, 1e-12);
  // 2 ranks: 2 ms + 4 MB / 100 MB/s = 42 ms; 4 ranks: 6 ms + 1.5 x 40 ms = 66 ms.
  EXPECT_NEAR(overlapped_step_s(plan(), 2, comm), 0.142, 1e-12);
  EXPECT_NEAR(overlapped_step_s(plan(), 4, comm), 0.166, 1e-12);
  engine::StepPlan early = plan();
  early.buckets[0].ready_s = 0;
  EXPECT_NEAR(overlapped_step_s(early, 2, comm), 0.1, 1e-12);  // all of it hidden
}

TEST(FitNetwork, FindsTheFiguresThatTheTrainingsWereMadeOf) {
  const std::vector<ScalingPoint> points{{.ranks = 1, .images_per_s = 640},
                                         {.ranks = 2, .images_per_s = 128 / 0.142},
                                         {.ranks = 4, .images_per_s = 256 / 0.166}};
  const ScalingFit fit = fit_scaling(plan(), 64, points, {});
  EXPECT_NEAR(fit.alpha_s, 1e-3, 1e-5);
  EXPECT_NEAR(fit.beta_bytes_per_s, 100e6, 1e6);
  EXPECT_LT(fit.rms_error, 1e-3);
}

TEST(FitNetwork, RefusesTwoFiguresFromOnePoint) {
  const std::vector<ScalingPoint> points{{.ranks = 1, .images_per_s = 640}, {.ranks = 2, .images_per_s = 900}};
  EXPECT_THROW(fit_scaling(plan(), 64, points, {}), SpecError);
}

}  // namespace
}  // namespace chexbench::verbs
