#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/derive.hpp"
#include "analysis/economics.hpp"
#include "analysis/input_findings.hpp"
#include "results/figures.hpp"
#include "results/record_factory.hpp"
#include "spec/pipeline_list.hpp"

namespace chexbench::analysis {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// About the size of ChestX-ray14's training split.
results::TrialResult trial_of(const std::string& pipeline, int ranks = 2) {
  results::TrialResult trial =
      results::make_trial({.pipeline = pipeline, .ranks = ranks, .engine = "emulated:v100"}, {100});
  trial.data = {.images = 86524, .files = 86524, .file_bytes = 34'600'000'000};
  return trial;
}

std::string text_of(const results::TrialResult& trial, const std::string& kind,
                    results::LimitedBy limit = results::LimitedBy::nothing) {
  results::Figures figures = derive_figures(trial, {trial});
  if (limit != results::LimitedBy::nothing) figures.limit = limit;
  for (const results::Finding& finding : input_findings(trial, figures)) {
    if (finding.kind == kind) return finding.text;
  }
  return "";
}

TEST(InputFindings, TellWhatAShuffleOfDecodedImagesHolds) {
  // 500 x 3 x 224 x 224 x 4 bytes against 500 x 0.4 MB
  EXPECT_THAT(text_of(trial_of("naive"), "shuffle_decoded"), HasSubstr("500 of them take 301 MB a rank"));
  EXPECT_THAT(text_of(trial_of("naive"), "shuffle_decoded"), HasSubstr("that many records take 200 MB"));
  EXPECT_EQ(text_of(trial_of("optimized"), "shuffle_decoded"), "");
}

TEST(InputFindings, AShuffleHoldsNoMoreThanAShardLeavesToItsRank) {
  results::TrialResult trial = trial_of("naive");
  auto shuffle = std::ranges::find(trial.spec.pipeline.ops, std::string("shuffle"), &spec::OpSpec::op);
  shuffle->parameters["buffer"] = "all";
  trial.data.images = 1000;
  EXPECT_THAT(text_of(trial, "shuffle_decoded"), HasSubstr("shuffles decoded images: 500 of them take 301 MB a rank"));
  std::erase_if(trial.spec.pipeline.ops, [](const spec::OpSpec& op) { return op.op == "shard"; });
  EXPECT_THAT(text_of(trial, "shuffle_decoded"), HasSubstr("1000 of them")) << "each rank reads all of them";
}

TEST(InputFindings, ASmallSetFillsNoBuffer) {
  results::TrialResult trial = trial_of("naive");
  trial.data.images = 95;
  EXPECT_EQ(text_of(trial, "shuffle_decoded"), "");
}

TEST(InputFindings, TellOfBatchesThatAreCountedWhereImagesWereMeant) {
  EXPECT_THAT(
      text_of(trial_of("naive"), "prefetch_batches"),
      HasSubstr("prefetches 16 batches, up to 154 MB a rank: after the batch, buffer \"batch\" counts batches"));
  EXPECT_EQ(text_of(trial_of("optimized"), "prefetch_batches"), "");
}

TEST(InputFindings, TellOfCoresThatAMapLeavesIdle) {
  results::TrialResult trial = trial_of("keras", 1);
  trial.cores_per_rank = 4;
  EXPECT_THAT(text_of(trial, "few_parallel_calls"), HasSubstr("works on 1 at a time and has 4 cores"));
  EXPECT_EQ(text_of(trial, "few_parallel_calls", results::LimitedBy::cpu), "");
  trial.cores_per_rank = 1;
  EXPECT_EQ(text_of(trial, "few_parallel_calls"), "");
}

TEST(InputFindings, TellOfCoresThatFewWorkersLeaveIdle) {
  results::TrialResult trial = trial_of("pytorch", 1);
  trial.cores_per_rank = 4;
  auto workers = std::ranges::find(trial.spec.pipeline.ops, std::string("worker_batches"), &spec::OpSpec::op);
  workers->parameters["num_workers"] = std::int64_t{3};
  results::Figures figures;
  figures.limit = results::LimitedBy::input;
  figures.wait_op = "worker_batches";
  const std::vector<results::Finding> findings = input_findings(trial, figures);
  const auto found = std::ranges::find(findings, "few_parallel_calls", &results::Finding::kind);
  ASSERT_NE(found, findings.end());
  EXPECT_THAT(found->text, HasSubstr("raise pipeline.worker_batches.num_workers"));
  workers->parameters["num_workers"] = std::int64_t{4};
  EXPECT_THAT(
      input_findings(trial, figures),
      testing::Not(testing::Contains(testing::Field(&results::Finding::kind, std::string("few_parallel_calls")))));
}

TEST(InputFindings, SuggestASettingOnlyOfAnOpThatItsNameTells) {
  results::TrialResult trial = trial_of("naive");
  const auto command = [&trial] {
    const auto findings = input_findings(trial, derive_figures(trial, {trial}));
    return std::ranges::find(findings, "prefetch_batches", &results::Finding::kind)->command;
  };
  EXPECT_EQ(command(), "mpirun -np 2 chexbench --config SPEC --set pipeline=naive --set pipeline.prefetch.buffer=auto");
  trial.spec.pipeline.name = "mine";
  EXPECT_EQ(command(), "");
  trial.spec.pipeline.name = "naive";
  trial.spec.pipeline.ops.push_back(
      *std::ranges::find(trial.spec.pipeline.ops, std::string("prefetch"), &spec::OpSpec::op));
  EXPECT_EQ(command(), "");
}

TEST(InputFindings, TellOfImagesThatEachEpochLeavesOut) {
  results::TrialResult trial = trial_of("optimized");
  EXPECT_EQ(text_of(trial, "batch_remainder"), "");  // repeat comes before its batches
  std::erase_if(trial.spec.pipeline.ops, [](const spec::OpSpec& op) { return op.op == "repeat"; });
  EXPECT_EQ(text_of(trial, "batch_remainder"), "");  // 14 of 43262
  trial.data.images = 95;
  EXPECT_THAT(text_of(trial, "batch_remainder"), HasSubstr("leaves 15 of a rank's 47 images out of each epoch"));
}

TEST(InputFindings, TellOfTooFewAndTooSmallShards) {
  results::TrialResult trial = trial_of("optimized");
  trial.spec.data.format = spec::DataFormat::tfrecord;
  trial.data.files = 16;
  EXPECT_THAT(text_of(trial, "small_shards"),
              HasSubstr("reads 16 shards, where its 2 ranks could have 20 open: convert with --shards 20"));
  std::erase_if(trial.spec.pipeline.ops, [](const spec::OpSpec& op) { return op.op == "shard"; });
  EXPECT_EQ(text_of(trial, "small_shards"), "") << "each rank opens ten of all";
  trial = trial_of("optimized");
  trial.spec.data.format = spec::DataFormat::tfrecord;
  trial.data.files = 5000;
  EXPECT_THAT(text_of(trial, "small_shards"), HasSubstr("shards of 6.9 MB"));
  trial.data.files = 256;
  EXPECT_EQ(text_of(trial, "small_shards"), "");
}

TEST(InputFindings, OfShardsOnOneRankSayNothingOfOthers) {
  results::TrialResult trial = trial_of("optimized", 1);
  trial.spec.data.format = spec::DataFormat::tfrecord;
  trial.data.files = 4;
  const auto findings = input_findings(trial, derive_figures(trial, {trial}));
  const auto found = std::ranges::find(findings, "small_shards", &results::Finding::kind);
  ASSERT_NE(found, findings.end());
  EXPECT_THAT(found->text, HasSubstr("reads 4 shards, where it could have 10 open: convert with --shards 10 or lower"));
  EXPECT_THAT(found->headline + found->reason, Not(HasSubstr("anks")));
}

TEST(InputFindings, DoNotAdviseToConvertPublishedShards) {
  results::TrialResult trial = trial_of("optimized");
  trial.spec.data.format = spec::DataFormat::tfrecord;
  trial.spec.data.layout = spec::DataLayout::imagenet;
  trial.data.files = 16;
  EXPECT_THAT(text_of(trial, "small_shards"),
              AllOf(HasSubstr("lower pipeline.interleave.cycle_length"), Not(HasSubstr("convert"))));
  trial.data.files = 5000;
  EXPECT_EQ(text_of(trial, "small_shards"), "") << "there is nothing to be done about them";
}

TEST(DataFindings, TellOfRootsThatHoldOtherImages) {
  results::TrialResult here = trial_of("naive"), there = here;
  here.spec.data.root = "data/nih";
  there.spec.data.root = "s3://xrays/other";
  EXPECT_THAT(data_findings(results::pointers({here, there})), IsEmpty());
  there.data.names_key = "another";
  const auto findings = data_findings(results::pointers({here, there}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text, HasSubstr("s3://xrays/other and data/nih contain different images"));
  there.spec.data.split = spec::Split::test;  // splits are meant to differ
  EXPECT_THAT(data_findings(results::pointers({here, there})), IsEmpty());
}

TEST(DataFindings, TellOnceThatThePageCacheDidTheWork) {
  results::TrialResult trial = trial_of("naive");
  EXPECT_THAT(data_findings(results::pointers({trial})), IsEmpty());
  trial.repeats[0].storage_read_bytes = 0;
  EXPECT_THAT(data_findings(results::pointers({trial, trial})), SizeIs(1));
  EXPECT_THAT(data_findings(results::pointers({trial, trial}))[0].text,
              HasSubstr("2 of 2 trials read from the page cache"));
  results::TrialResult distant = trial;
  distant.spec.data.root = "nfs://filer/xrays";
  EXPECT_THAT(data_findings(results::pointers({distant})), IsEmpty());
  trial.repeats[0].looked_at_bytes = 200;
  trial.repeats[0].cached_bytes_before = 150;
  EXPECT_THAT(data_findings(results::pointers({trial}))[0].text, HasSubstr("75 % of the trials' files were in memory"));
  trial.spec.measure.page_cache = spec::PageCache::warm;  // the spec asks for it
  EXPECT_THAT(data_findings(results::pointers({trial})), IsEmpty());
}

TEST(DataFindings, TellOfPatientsInBothSplits) {
  results::TrialResult trial = trial_of("naive");
  trial.spec.measure.page_cache = spec::PageCache::warm;
  trial.data.patients_in_both_splits = 3;
  EXPECT_THAT(data_findings(results::pointers({trial, trial})), SizeIs(1));
  EXPECT_THAT(data_findings(results::pointers({trial}))[0].text,
              HasSubstr("3 patients have images in both train and test"));
}

TEST(DataFindings, SayThatATrainingDoesNotKnowItsPatients) {
  results::TrialResult trial = results::make_trial({}, {100});
  trial.data.images = 100;
  trial.spec.training.epochs = 2;
  EXPECT_THAT(data_findings(results::pointers({trial}))[0].text,
              AllOf(HasSubstr("the patients of these images are unknown"), HasSubstr("data.labels.patient_column")));
  trial.data.patients_in_both_splits = 0;
  EXPECT_THAT(data_findings(results::pointers({trial})), IsEmpty());
}

TEST(DataFindings, SayOnceThatImagesChangedAfterTheirConversion) {
  results::TrialResult trial = results::make_trial({.format = spec::DataFormat::tfrecord}, {100});
  trial.data.images_looked_at = 64;
  EXPECT_THAT(data_findings(results::pointers({trial})), IsEmpty());
  trial.data.images_newer = 3;
  const auto findings = data_findings(results::pointers({trial, trial}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "old_shards");
  EXPECT_THAT(findings[0].text, HasSubstr("data/nih, tfrecord: 3 of 64 sampled image files"));
}

class TfrecordEconomics : public testing::Test {
 protected:
  TfrecordEconomics() {
    png_.data.images = tfrecord_.data.images = 1000;
    tfrecord_.data.converted_images = 1000;
    tfrecord_.data.conversion_s = 8;
    tfrecord_.data.converted_bytes = 400'000'000;
  }
  results::TrialResult png_ = results::make_trial({}, {100, 100, 100, 100, 100});
  results::TrialResult tfrecord_ =
      results::make_trial({.format = spec::DataFormat::tfrecord}, {125, 125, 125, 120, 130});
};

TEST_F(TfrecordEconomics, AreSecondsOnceAgainstSecondsAnEpoch) {
  const auto economics = conversion_economics(png_, tfrecord_);
  ASSERT_TRUE(economics.has_value());
  EXPECT_NEAR(economics->saved_s, 10 - 8, 1e-9);
  EXPECT_NEAR(*economics->epochs, 4, 1e-9);
  EXPECT_LE(*economics->least_epochs, 4);
  EXPECT_GE(*economics->most_epochs, 4);
  const auto findings = economics_findings(results::pointers({png_, tfrecord_}));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].text,
              HasSubstr("tfrecord saves 2.00 s of an epoch of 10.0 s: it pays after 4.0 epochs (95 %"));
}

TEST_F(TfrecordEconomics, NeverPayWhereTheyAreSlower) {
  for (results::RepeatResult& repeat : tfrecord_.repeats) repeat.images_per_s = 80;
  const auto economics = conversion_economics(png_, tfrecord_);
  EXPECT_FALSE(economics->epochs.has_value());
  EXPECT_THAT(economics_findings(results::pointers({png_, tfrecord_}))[0].text,
              HasSubstr("tfrecord saves nothing of an epoch of 10.0 s: it never pays"));
}

TEST_F(TfrecordEconomics, MayPayByTheirIntervalAlone) {
  const double rates[] = {90, 95, 98, 115, 120};
  for (std::size_t i = 0; i < 5; ++i) tfrecord_.repeats[i].images_per_s = rates[i];
  const auto economics = conversion_economics(png_, tfrecord_);
  EXPECT_FALSE(economics->epochs.has_value());
  EXPECT_THAT(economics_findings(results::pointers({png_, tfrecord_}))[0].text,
              testing::AllOf(HasSubstr("saves nothing"), HasSubstr("it does not pay (95 % interval from "),
                             HasSubstr("to never)")));
}

TEST_F(TfrecordEconomics, MayNeverPayByTheirInterval) {
  const double rates[] = {90, 95, 110, 115, 120};
  for (std::size_t i = 0; i < 5; ++i) tfrecord_.repeats[i].images_per_s = rates[i];
  EXPECT_THAT(economics_findings(results::pointers({png_, tfrecord_}))[0].text, HasSubstr("to never)"));
}

TEST_F(TfrecordEconomics, AreUnknownWithoutTheCostOfTheConversion) {
  tfrecord_.data.converted_images = 0;
  EXPECT_THAT(economics_findings(results::pointers({png_, tfrecord_})), IsEmpty());
}

results::Report report_of(const std::string& engine) {
  results::Report report = results::make_report({results::make_trial({.engine = engine}, {10, 11})});
  report.trials[0].spec.training.precision = spec::Precision::bf16;
  report.environment.cpu_kind = "Emerald Rapids";
  report.environment.unused_instruction_sets = {"AMX (the hypervisor hides it)"};
  return report;
}

TEST(CpuFindings, NameWhatATrainingOnTheCpuCouldHaveUsed) {
  const auto findings = cpu_findings(report_of("onednn"));
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, "unused_instructions");
  EXPECT_THAT(findings[0].text, HasSubstr("(Emerald Rapids) has instruction sets that training did not use: AMX (the "
                                          "hypervisor hides it)."));
}

TEST(CpuFindings, AreNoneWhereNothingIsUnusedOrNothingTrainsOnTheCpu) {
  EXPECT_THAT(cpu_findings(report_of("none")), IsEmpty());
  results::Report report = report_of("onednn");
  report.environment.unused_instruction_sets.clear();
  EXPECT_THAT(cpu_findings(report), IsEmpty());
  report = report_of("onednn");
  report.trials[0].spec.training.precision = spec::Precision::f32;
  EXPECT_THAT(cpu_findings(report), IsEmpty()) << "f32 does not use AMX";
  report.environment.unused_instruction_sets.push_back("AVX-512 (CHEXBENCH_ISA rules it out)");
  EXPECT_THAT(cpu_findings(report).at(0).text, HasSubstr("did not use: AVX-512 (CHEXBENCH_ISA rules it out)."));
  report = report_of("onednn");
  report.trials[0].repeats.clear();
  EXPECT_THAT(cpu_findings(report), IsEmpty());
}

}  // namespace
}  // namespace chexbench::analysis
