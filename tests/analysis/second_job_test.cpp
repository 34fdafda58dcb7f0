#include "analysis/second_job.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/answer.hpp"
#include "analysis/findings.hpp"
#include "report/markdown.hpp"
#include "report/table.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

const std::vector<double> kAlone{100, 101, 99, 100, 102, 98};

// Returns the trial running with a second job, with `kept` of its rate alone, and the second job with `second_kept` of
// its 80 images/s, or of 8 GB/s.
results::TrialResult beside(spec::SecondJobKind kind, const std::string& cores, double kept,
                            std::optional<double> second_kept) {
  std::vector<double> rates = kAlone;
  for (double& rate : rates) rate *= kept;
  results::TrialResult trial = results::make_trial({}, rates);
  trial.name = "beside " + to_string(kind) + " " + cores;
  trial.spec.second_job = {.kind = kind, .cores = cores};
  const bool bytes = kind == spec::SecondJobKind::memory || kind == spec::SecondJobKind::storage;
  for (results::RepeatResult& repeat : trial.repeats) {
    if (!second_kept) continue;
    results::SecondJobResult& job = repeat.second_job;
    (bytes ? job.alone_bytes_per_s : job.alone_images_per_s) = bytes ? 8e9 : 80;
    (bytes ? job.bytes_per_s : job.images_per_s) = *second_kept * (bytes ? 8e9 : 80);
  }
  return trial;
}

results::Report report_of(std::vector<results::TrialResult> trials) {
  results::Report report{.experiment = "two-jobs", .environment = {}, .trials = std::move(trials)};
  report.findings = derive_findings(report.trials);
  return report;
}

const results::Finding& finding(const results::Report& report, const std::string& kind, const std::string& trial) {
  return *std::ranges::find_if(report.findings,
                               [&](const results::Finding& each) { return each.kind == kind && each.trial == trial; });
}

results::Report two_jobs() {
  using enum spec::SecondJobKind;
  results::TrialResult alone = results::make_trial({}, kAlone);
  alone.name = "alone";
  return report_of({alone, beside(input, "shared", 0.5, 0.4), beside(memory, "apart", 0.9, 0.95),
                    beside(page_cache, "apart", 1, std::nullopt)});
}

TEST(ASecondJob, CostsWhatTheTrialLosesAgainstItsRunAlone) {
  const results::Report report = two_jobs();
  const results::Finding& cores = finding(report, "second_job", "beside input shared");
  EXPECT_EQ(cores.base, "alone");
  EXPECT_NEAR(cores.ratio->value, 0.5, 1e-9);
  EXPECT_NEAR(cores.worth_share, 0.5, 1e-9);
  EXPECT_EQ(cores.headline, "delivers 0.50 x the images/s of its run alone (0.50 to 0.50)");
  EXPECT_EQ(cores.reason,
            "Next to an input job on its cores, it keeps 0.50 x (0.50 to 0.50) of its rate, and that job keeps 0.40 x "
            "(0.40 to 0.40) of its rate, so the second job loses more.");
  EXPECT_NE(cores.command.find("--config two-jobs --set data.root=data/nih"), std::string::npos);
  const results::Finding& memory = finding(report, "second_job", "beside memory apart");
  EXPECT_NE(memory.reason.find("so the trial loses more"), std::string::npos) << memory.reason;
  EXPECT_NE(memory.command.find("data.deliver=u8"), std::string::npos);
}

TEST(ASecondJob, HasTheUnitOfAllItsRepeatsWhereOneHasNoRate) {
  results::TrialResult trial = beside(spec::SecondJobKind::memory, "apart", 0.9, 0.95);
  trial.repeats.back().second_job = {};
  const std::optional<SecondJobRates> rates = second_job_rates(trial);
  ASSERT_TRUE(rates);
  EXPECT_TRUE(rates->counts_bytes);
  EXPECT_EQ(rates->alone, 8e9);
}

TEST(ASecondJob, IsToldByResourceThatCostsMostFirst) {
  const results::Report report = two_jobs();
  const results::Finding& found = finding(report, "second_job_resources", "alone");
  EXPECT_EQ(found.headline, "loses most to a second job by cores (input): 50 %");
  EXPECT_EQ(found.reason, "By resource: cores (input) 50 %, memory bandwidth 10 %, page cache unclear.");
  EXPECT_NEAR(found.worth_share, 0.5, 1e-9);
}

TEST(ASecondJob, ThatChangesNothingIsNotToldApart) {
  const results::Report report = two_jobs();
  const results::Finding& page_cache = finding(report, "second_job", "beside page_cache apart");
  EXPECT_EQ(page_cache.grade, results::Grade::cannot_tell);
  EXPECT_TRUE(page_cache.advice.empty());
}

TEST(ASecondJob, MakesNoCompetitorOfTheTrialAlone) {
  const Answer answer = derive_answer(two_jobs());
  EXPECT_EQ(answer.trial, "alone");
  EXPECT_TRUE(answer.base.empty()) << "a busy host is no slower pipeline";
}

TEST(ASecondJob, WithoutATrialAloneHasNoCost) {
  const results::Report report = report_of({beside(spec::SecondJobKind::input, "shared", 0.5, 0.4)});
  EXPECT_TRUE(std::ranges::none_of(report.findings, [](const auto& each) { return each.kind == "second_job"; }));
}

TEST(ASecondJob, HasATableOfBothJobs) {
  const std::string table = report::result_table(two_jobs(), {});
  EXPECT_NE(table.find("Two jobs on one host"), std::string::npos) << table;
  EXPECT_NE(table.find("8.00 GB/s"), std::string::npos) << table;
  EXPECT_NE(report::markdown(two_jobs()).find("| 0.40 x |"), std::string::npos);
  results::TrialResult alone = results::make_trial({}, kAlone);
  EXPECT_EQ(report::result_table(report_of({alone}), {}).find("Two jobs"), std::string::npos);
}

}  // namespace
}  // namespace chexbench::analysis
