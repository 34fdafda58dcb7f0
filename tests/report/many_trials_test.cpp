// A sweep may have thousands of trials, so nothing may compare each with each.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "analysis/findings.hpp"
#include "report/write.hpp"
#include "results/record_factory.hpp"

namespace chexbench::report {
namespace {

using results::make_trial;

// Trials that differ in one key, in pairs of pipelines, in worlds of one and two ranks.
results::Report report_of(int trials) {
  std::vector<results::TrialResult> all;
  for (int i = 0; i < trials; ++i) {
    results::TrialResult trial = make_trial({.pipeline = i % 2 == 0 ? "naive" : "optimized", .ranks = 1 + i / 2 % 2},
                                            {100.0 + i % 7, 101.0 + i % 5});
    trial.spec.training.batch_size = 1 + i / 4;
    trial.name += std::to_string(i);
    all.push_back(std::move(trial));
  }
  return results::make_report(std::move(all));
}

double cpu_s_of(const std::function<void()>& work) {
  const std::clock_t begin = std::clock();
  work();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Ten times as many trials may take 40 times as long: a quadratic step would take 100 times.
void expect_no_square(const std::function<void(const results::Report&)>& work) {
  constexpr int kFew = 300;
  const results::Report few = report_of(kFew), many = report_of(10 * kFew);
  work(few);  // made once, such as the table of keys
  const double few_s = cpu_s_of([&] { work(few); });
  const double many_s = cpu_s_of([&] { work(many); });
  EXPECT_LT(many_s, 40 * few_s + 0.5);
}

TEST(ManyTrials, AreConcludedWithoutComparingEachWithEach) {
  expect_no_square([](const results::Report& report) {
    EXPECT_GT(analysis::derive_findings(report.trials).size(), report.trials.size() / 3);
  });
}

class ReportOfManyTrials : public testing::TestWithParam<const char*> {};

TEST_P(ReportOfManyTrials, IsWrittenWithoutComparingEachWithEach) {
  expect_no_square([](const results::Report& report) { EXPECT_FALSE(format_report(report, GetParam()).empty()); });
}

INSTANTIATE_TEST_SUITE_P(Each, ReportOfManyTrials,
                         testing::Values("table", "json", "csv", "markdown", "html", "google-benchmark", "bencher"));

TEST(ManyTrials, GiveAPageThatABrowserOpens) {
  results::Report report = report_of(3000);
  report.findings = analysis::derive_findings(report.trials);
  const std::string page = format_report(report, "html");
  EXPECT_LT(page.size(), 5'000'000U);
  EXPECT_NE(page.find(" of 3000 trials"), std::string::npos);
}

}  // namespace
}  // namespace chexbench::report
