#include "analysis/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "analysis/verdicts_of.hpp"
#include "results/record_factory.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::vector<results::Finding> of_kind(const std::vector<results::TrialResult>& trials, const std::string& kind) {
  std::vector<results::Finding> findings = derive_findings(trials);
  std::erase_if(findings, [&kind](const results::Finding& finding) { return finding.kind != kind; });
  return findings;
}

TEST(Findings, AboutDisturbedArmsSaySoFirst) {
  results::TrialResult naive = results::make_trial({.pipeline = "naive"}, {100, 100, 100, 100, 100});
  results::TrialResult optimized = results::make_trial({}, {76, 76, 76, 76, 76});
  const auto finding = [&] { return of_kind({naive, optimized}, "pipeline_ratio").at(0); };
  EXPECT_THAT(finding().text, StartsWith("optimized images ranks=1 delivers 0.76 x"));
  EXPECT_EQ(finding().grade, results::Grade::told_apart);
  for (const std::size_t repeat : {0, 1, 2}) optimized.repeats[repeat].disturbance = results::make_disturbance();
  EXPECT_THAT(
      finding().text,
      StartsWith("The machine was too busy to compare optimized images ranks=1 with naive images ranks=1 (optimized "
                 "images ranks=1: other processes used up to 34 % of its cores in 3 of 5 repeats): ratio 0.76"));
  EXPECT_EQ(finding().grade, results::Grade::machine_too_busy);
  for (results::RepeatResult& repeat : naive.repeats) repeat.images_per_s = 300;
  EXPECT_THAT(finding().text, StartsWith("On a busy machine (optimized images ranks=1: other processes used"));
}

TEST(Findings, SayHowManyRoundsContradictAnInterval) {
  const results::TrialResult naive = results::make_trial({.pipeline = "naive"}, {100, 100, 100, 100, 100, 100});
  const results::TrialResult optimized = results::make_trial({}, {150, 150, 150, 150, 150, 99});
  const results::Finding finding = of_kind({naive, optimized}, "pipeline_ratio").at(0);
  EXPECT_EQ(finding.grade, results::Grade::cannot_tell);
  EXPECT_THAT(finding.text, AllOf(HasSubstr("cannot be told apart"), HasSubstr("which 1 of 6 rounds contradict")));
}

TEST(Findings, PassOverTrialsThatWereNotReached) {
  EXPECT_THAT(derive_findings({}), IsEmpty());
  EXPECT_THAT(derive_findings({results::make_trial({}, {}), results::make_trial({.pipeline = "naive"}, {})}),
              IsEmpty());
}

TEST(Findings, SpeakOfTheTrialWithTheMostRanksAlone) {
  const auto naive = [](int ranks) { return results::make_trial({.pipeline = "naive", .ranks = ranks}, {100}); };
  const auto optimized = [](int ranks) { return results::make_trial({.ranks = ranks}, {100.0 * ranks}); };
  const auto findings = of_kind({naive(1), naive(4), optimized(1), optimized(4)}, "pipeline_ratio");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text,
              HasSubstr("optimized images ranks=4 delivers 4.00 x the images/s of naive images ranks=4"));
}

TEST(Amplification, OfNaiveOnTwoRanksIsNamedWithItsFactor) {
  results::TrialResult naive = results::make_trial({.pipeline = "naive", .ranks = 2}, {100});
  naive.repeats[0].images_decoded = 2 * naive.repeats[0].images_trained;
  const auto findings = of_kind({naive}, "amplification");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text,
              AllOf(HasSubstr("naive images ranks=2 decodes 2.0 images"), HasSubstr("its 2 ranks decode")));
  EXPECT_FALSE(findings[0].emulated);
}

TEST(Amplification, IsNotOfOtherRanksWhereEachReadsItsOwnImages) {
  results::TrialResult trial = results::make_trial({.pipeline = "optimized", .ranks = 2}, {100});
  trial.repeats[0].images_decoded = 2 * trial.repeats[0].images_trained;
  const auto findings = of_kind({trial}, "amplification");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text, Not(HasSubstr("shard")));
  EXPECT_THAT(findings[0].reason, Not(HasSubstr("ranks")));
  EXPECT_EQ(findings[0].advice, "") << "its shard is behind list_files already";
}

TEST(Amplification, IsSilentWhereEachImageIsDecodedOnce) {
  EXPECT_THAT(of_kind({results::make_trial({.ranks = 2}, {100})}, "amplification"), IsEmpty());
}

TEST(PipelineRatio, ComparesWithTheFirstTrialThatDiffersInItsPipelineAlone) {
  const auto naive = results::make_trial({.pipeline = "naive"}, {100, 100, 100, 100, 100});
  const auto optimized = results::make_trial({.pipeline = "optimized"}, {300, 320, 310, 330, 290});
  const auto findings = of_kind({naive, optimized}, "pipeline_ratio");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(
      findings[0].text,
      "optimized images ranks=1 delivers 3.10 x the images/s of naive images ranks=1 (95 % interval 2.90 to 3.30): "
      "310 against 100.");
}

TEST(StorageRatio, ComparesWithTheFirstTrialThatDiffersInItsStoreAlone) {
  const auto at = [](const std::string& root, double images_per_s, double latency_ms = 0) {
    results::TrialResult trial = results::make_trial({}, std::vector<double>(5, images_per_s));
    trial.spec.data.root = root;
    if (latency_ms > 0) trial.spec.data.store.shape.latency_ms = latency_ms;
    trial.name = root + (latency_ms > 0 ? " slow" : "");
    return trial;
  };
  const auto findings = of_kind({at("a", 200), at("nfs://b/c", 150), at("a", 50, 2)}, "storage_ratio");
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_THAT(findings[0].text, HasSubstr("nfs://b/c delivers 0.75 x the images/s of a "));
  EXPECT_THAT(findings[1].text, HasSubstr("a slow delivers 0.25 x the images/s of a "));
  EXPECT_THAT(of_kind({at("a", 200), at("b", 150)}, "pipeline_ratio"), IsEmpty());
}

TEST(PipelineRatio, PairsRoundsSoThatASharedDriftCancels) {
  const auto naive = results::make_trial({.pipeline = "naive"}, {100, 80, 60, 40, 20});
  const auto optimized = results::make_trial({.pipeline = "optimized"}, {200, 160, 120, 80, 40});
  EXPECT_THAT(of_kind({naive, optimized}, "pipeline_ratio").at(0).text, HasSubstr("interval 2.00 to 2.00"));
}

TEST(PipelineRatio, UsesOnlyRoundsThatBothArmsHave) {
  const auto naive = results::make_trial({.pipeline = "naive"}, {100, 100, 100, 100, 100});
  auto optimized = results::make_trial({.pipeline = "optimized"}, {900, 200, 200});
  optimized.repeats.erase(optimized.repeats.begin());
  EXPECT_THAT(of_kind({naive, optimized}, "pipeline_ratio").at(0).text,
              AllOf(HasSubstr("2.00 x"), HasSubstr("fewer than five repeats")));
}

TEST(PipelineRatio, SaysWhereArmsCannotBeToldApart) {
  const auto naive = results::make_trial({.pipeline = "naive"}, {100, 110, 90, 105, 95});
  const auto optimized = results::make_trial({.pipeline = "optimized"}, {105, 95, 100, 90, 110});
  EXPECT_THAT(of_kind({naive, optimized}, "pipeline_ratio").at(0).text,
              AllOf(HasSubstr("cannot be told apart"), Not(HasSubstr("delivers"))));
}

TEST(PipelineRatio, NeverComparesOtherRanksOrEngines) {
  const auto naive = results::make_trial({.pipeline = "naive", .ranks = 1}, {100});
  EXPECT_THAT(of_kind({naive, results::make_trial({.ranks = 2}, {300})}, "pipeline_ratio"), IsEmpty());
  EXPECT_THAT(of_kind({naive, results::make_trial({.engine = "emulated:v100"}, {300})}, "pipeline_ratio"), IsEmpty());
}

TEST(FormatRatio, ComparesTfrecordWithPng) {
  const auto files = results::make_trial({}, {100, 100, 100, 100, 100});
  const auto tfrecord = results::make_trial({.format = spec::DataFormat::tfrecord}, {120, 120, 120, 120, 120});
  const auto findings = of_kind({files, tfrecord}, "format_ratio");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text, HasSubstr("tfrecord ranks=1 delivers 1.20 x the images/s of optimized images"));
}

TEST(Scaling, IsToldForMoreThanOneRank) {
  const auto findings =
      of_kind({results::make_trial({.ranks = 1}, {100}), results::make_trial({.ranks = 4}, {300})}, "scaling");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text, HasSubstr("ranks=4 reaches 75 % of 4 times its images/s at 1 rank (weak scaling)"));
}

TEST(Scaling, IsCalledLinearOnlyFrom95PercentOn) {
  const auto text = [](double images_per_s) {
    return of_kind({results::make_trial({.ranks = 1}, {100}), results::make_trial({.ranks = 4}, {images_per_s})},
                   "scaling")
        .at(0)
        .text;
  };
  EXPECT_THAT(text(380), HasSubstr("95 % of 4 times its images/s at 1 rank (weak scaling), which is linear"));
  EXPECT_THAT(text(379), Not(HasSubstr("linear")));
}

TEST(Scaling, TellsTheShareOfCommunicationAndTheSpreadOverRanks) {
  // 10 ms of each step of 100 ms are exposed communication, so a rank's own part is 90 ms.
  const auto alike =
      of_kind({results::make_trial({.ranks = 1}, {100}), results::make_trial({.ranks = 2}, {150})}, "scaling")
          .at(0)
          .text;
  EXPECT_THAT(alike, AllOf(HasSubstr("; 10 % of the time went into communication not overlapped with backward"),
                           HasSubstr("; its ranks differ by 0.0 %.")));
  auto late = results::make_trial({.ranks = 2}, {150});
  for (results::StepRecord& step : late.repeats[0].steps) step.timings.wall_s += step.rank == 1 ? 0.009 : 0;
  EXPECT_THAT(of_kind({results::make_trial({.ranks = 1}, {100}), late}, "scaling").at(0).text,
              HasSubstr("; rank 1 took 10 % longer than the fastest for its own part of a step."));
}

TEST(Scaling, SaysThatEmulatedRanksSharedCores) {
  auto four = results::make_trial({.ranks = 4, .engine = "emulated:v100"}, {300});
  four.oversubscribed = true;
  const auto findings = of_kind({results::make_trial({.engine = "emulated:v100"}, {100}), four}, "scaling");
  EXPECT_THAT(findings.at(0).text, AllOf(HasSubstr("(emulated)"), HasSubstr("the ranks shared cores")));
}

TEST(Ceiling, ComparesRealTrainingWithThePipelineAlone) {
  auto training = results::make_trial({.engine = "onednn"}, {4});
  training.engine_device = "Some CPU, 2 cores";
  const auto findings = of_kind({training, results::make_trial({.engine = "none"}, {800})}, "ceiling");
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text,
              AllOf(HasSubstr("Some CPU, 2 cores trains 4.00 images/s, the pipeline alone delivers 800 (200.0 x)"),
                    HasSubstr("not what limits")));
}

TEST(Ceiling, NamesAPipelineThatLimitsTraining) {
  const auto findings = of_kind(
      {results::make_trial({.engine = "onednn"}, {4}), results::make_trial({.engine = "none"}, {4.1})}, "ceiling");
  EXPECT_THAT(findings.at(0).text, HasSubstr("the pipeline limits this training"));
}

TEST(Ceiling, IsWhatTheSameTrainingReachesOverReadyMadeBatches) {
  const std::string engine = "emulated:v100";
  const auto naive = results::make_trial({.pipeline = "naive", .engine = engine}, {100, 101, 102, 103, 104});
  auto optimized = results::make_trial({.engine = engine}, {200, 201, 202, 203, 204});
  optimized.spec.measure.page_cache = spec::PageCache::warm;
  optimized.spec.data.decoder = spec::DecoderKind::opencv;
  auto ready = results::make_trial({.format = spec::DataFormat::ready, .engine = engine}, {400, 402, 404, 406, 408});
  ready.name = "ready";
  const auto findings = of_kind({naive, ready, optimized}, "ceiling");
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].text,
            "naive images ranks=1 (emulated) trains 0.25 x the images/s of ready (emulated) (95 % interval 0.25 to "
            "0.25): 102 against 404; the batches of ready (emulated) are ready-made, so no input can give more.");
  EXPECT_THAT(findings[1].text, StartsWith("optimized images ranks=1 (emulated) trains 0.50 x"));
  EXPECT_EQ(findings[1].trial, "optimized images ranks=1");
  EXPECT_EQ(findings[1].base, "ready");
  EXPECT_TRUE(findings[0].emulated);
}

TEST(Ceiling, IsNoArmToComparePipelinesAndFormatsWith) {
  const auto files = results::make_trial({.engine = "onednn"}, {100, 100, 100, 100, 100});
  const auto ready =
      results::make_trial({.format = spec::DataFormat::ready, .engine = "onednn"}, {400, 400, 400, 400, 400});
  for (const char* kind : {"format_ratio", "pipeline_ratio", "storage_ratio"}) {
    EXPECT_THAT(of_kind({ready, files}, kind), IsEmpty());
    EXPECT_THAT(of_kind({files, ready}, kind), IsEmpty());
  }
}

TEST(Ceiling, NeedsTheSameTrainingAndOneThatTrains) {
  const auto ready = [](const results::TrialOptions& options, Deliver deliver) {
    auto trial = results::make_trial(options, {400, 400});
    trial.spec.data.deliver = deliver;
    return trial;
  };
  const auto format = spec::DataFormat::ready;
  const auto files = results::make_trial({.engine = "onednn"}, {100, 100});
  EXPECT_THAT(of_kind({files, ready({.format = format, .engine = "onednn"}, Deliver::f32)}, "ceiling"), SizeIs(1));
  EXPECT_THAT(of_kind({files, ready({.format = format, .engine = "onednn"}, Deliver::u8)}, "ceiling"), IsEmpty());
  EXPECT_THAT(of_kind({files, ready({.format = format, .ranks = 2, .engine = "onednn"}, Deliver::f32)}, "ceiling"),
              IsEmpty());
  EXPECT_THAT(of_kind({results::make_trial({}, {100, 100}), ready({.format = format}, Deliver::f32)}, "ceiling"),
              IsEmpty());
}

TEST(Findings, ThatRestOnEmulatedEnginesSaySo) {
  auto naive =
      results::make_trial({.pipeline = "naive", .ranks = 2, .engine = "emulated:v100"}, {100, 100, 100, 100, 100});
  naive.repeats[0].images_decoded *= 20;
  results::set_wait_share(naive, 0.5);
  auto optimized = results::make_trial({.ranks = 2, .engine = "emulated:v100"}, {300, 300, 300, 300, 300});
  results::set_wait_share(optimized, 0.01);
  const auto single = results::make_trial({.ranks = 1, .engine = "emulated:v100"}, {160});
  const auto tfrecord =
      results::make_trial({.format = spec::DataFormat::tfrecord, .ranks = 2, .engine = "emulated:v100"}, {310});
  const auto findings = derive_findings({naive, optimized, single, tfrecord});
  std::set<std::string> kinds;
  for (const results::Finding& finding : findings) {
    kinds.insert(finding.kind);
    EXPECT_TRUE(finding.emulated) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr("(emulated)"));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"amplification", "pipeline_ratio", "format_ratio", "starved", "fed",
                                          "scaling", "prefetch_batches"}));
}

// Trials with many findings: arms that are starved, fed, disturbed, or measured only once.
std::vector<results::TrialResult> telling_trials() {
  std::vector<results::TrialResult> trials;
  for (const spec::DataFormat format : {spec::DataFormat::images, spec::DataFormat::tfrecord}) {
    for (const int ranks : {1, 2}) {
      trials.push_back(results::make_trial({.pipeline = "naive", .format = format, .ranks = ranks, .engine = "onednn"},
                                           std::vector<double>(5, 100.0 * ranks)));
      trials.back().repeats[0].images_decoded *= 4;
      trials.push_back(results::make_trial({.pipeline = "keras", .format = format, .ranks = ranks, .engine = "onednn"},
                                           std::vector<double>(ranks, 70)));
      results::set_wait_share(trials.back(), 0);
      trials.push_back(results::make_trial({.format = format, .ranks = ranks, .engine = "onednn"},
                                           std::vector<double>(5, 150.0 * ranks)));
      for (results::RepeatResult& repeat : trials.back().repeats) {
        repeat.disturbance = results::make_disturbance();
        repeat.storage_read_bytes = 0;
      }
    }
  }
  for (results::TrialResult& trial : trials) {
    trial.data.images = 1000;
    trial.data.files = 2;
    trial.data.patients_in_both_splits = 3;
    trial.data.images_newer = trial.data.images_looked_at = 5;
    trial.data.converted_images = 1000;
    trial.data.conversion_s = 2;
  }
  return trials;
}

TEST(Parts, OfEachFindingAreAShortHeadlineAndWholeSentences) {
  std::set<std::string> kinds;
  for (const results::Finding& finding : derive_findings(telling_trials())) {
    kinds.insert(finding.kind);
    EXPECT_THAT(finding.headline, Not(IsEmpty())) << finding.kind;
    EXPECT_LE(std::ranges::count(finding.headline, ' '), 11) << finding.headline;
    EXPECT_THAT(finding.headline, Not(testing::EndsWith("."))) << finding.kind;
    const bool has_number = std::ranges::any_of(finding.headline, [](unsigned char c) { return std::isdigit(c) != 0; });
    EXPECT_TRUE(has_number || finding.grade != results::Grade::told_apart) << finding.headline;
    for (const std::string& sentence : {finding.reason, finding.advice})
      EXPECT_TRUE(sentence.empty() || (sentence.ends_with('.') && std::isupper(sentence.front()) != 0)) << sentence;
    EXPECT_GE(finding.worth_share, 0) << finding.headline;
    EXPECT_LE(finding.worth_share, 1) << finding.headline;
    EXPECT_TRUE(finding.command.empty() || !finding.advice.empty()) << finding.headline;
  }
  EXPECT_GE(kinds.size(), 8u);
}

TEST(Parts, OrderWhatCostsTimeByItsShare) {
  auto trial = results::make_trial({.pipeline = "naive", .engine = "emulated:v100"}, {235});
  results::set_wait_share(trial, 0.38);
  const results::Finding finding = verdicts_of(trial).at(0);
  EXPECT_EQ(finding.headline, "starves its accelerator 38 % of the time");
  EXPECT_EQ(finding.trial, "naive images ranks=1");
  EXPECT_NEAR(finding.worth_share, 0.38, 1e-9);
  EXPECT_THAT(finding.command, StartsWith("chexbench advise --config SPEC --set pipeline=naive"));
}

}  // namespace
}  // namespace chexbench::analysis
