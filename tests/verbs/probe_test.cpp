// Tests the measurements of `chexbench DIR`, which accelerators it calls fed, and its words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "core/scratch.hpp"
#include "verbs/probe/probe.hpp"
#include "verbs/probe/probe_spec.hpp"

namespace chexbench::verbs {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

dataset::IndexReport index_of(std::size_t pngs, std::size_t jpegs) {
  dataset::IndexReport index{.root = "set", .table = "set", .layout = spec::DataLayout::folders};
  index.rows = index.files = pngs + jpegs;
  index.png_files = pngs;
  return index;
}

std::vector<std::string> names_of(const std::vector<WayToRead>& ways) {
  std::vector<std::string> names;
  for (const WayToRead& way : ways) names.push_back(way.name);
  return names;
}

spec::DataSpec set() { return {.root = "set"}; }

TEST(WaysToRead, AreTheImagesAsTheyLieThere) {
  const auto ways = ways_to_read(index_of(3, 0), set());
  ASSERT_THAT(names_of(ways), ElementsAre("png"));
  EXPECT_EQ(ways[0].trial.engine, "none");
  EXPECT_EQ(ways[0].trial.data.layout, spec::DataLayout::folders);
  EXPECT_EQ(ways[0].trial.data.split, spec::Split::all);
  EXPECT_EQ(ways[0].trial.name, "set");
}

TEST(WaysToRead, OfJpegsAreAlsoDecodedAtAScale) {
  const auto ways = ways_to_read(index_of(1, 2), set());
  ASSERT_THAT(names_of(ways), ElementsAre("jpeg", "jpeg scaled"));
  EXPECT_EQ(ways[1].trial.data.jpeg, spec::JpegDecode::scaled);
  EXPECT_EQ(ways[1].settings, "data.jpeg=scaled");
}

TEST(WaysToRead, OfShardsReadTheSplitThatTheyHoldSoThatAllCompare) {
  dataset::IndexReport index = index_of(4, 0);
  index.shards.push_back({.format = spec::DataFormat::tfrecord, .split = spec::Split::train, .count = 4});
  index.shards.push_back({.format = spec::DataFormat::webdataset, .split = spec::Split::all, .count = 4});
  const auto ways = ways_to_read(index, set());
  ASSERT_THAT(names_of(ways), ElementsAre("png", "tfrecord"));
  for (const WayToRead& way : ways) EXPECT_EQ(way.trial.data.split, spec::Split::train);
  EXPECT_EQ(ways[1].settings, "data.format=tfrecord");
}

TEST(WaysToRead, DoNotIncludeShardsThatNoRunCanRead) {
  dataset::IndexReport index = index_of(4, 0);
  index.shards.push_back(
      {.format = spec::DataFormat::tfrecord, .split = spec::Split::all, .count = 4, .problem = "cut"});
  EXPECT_THAT(names_of(ways_to_read(index, set())), ElementsAre("png"));
}

TEST(WaysToRead, BeginWithShardsWhereTheImagesAreGone) {
  dataset::IndexReport index = index_of(0, 0);
  index.rows = 2;
  index.missing = {"a.png", "b.png"};
  index.shards.push_back({.format = spec::DataFormat::webdataset, .split = spec::Split::all, .count = 1});
  const auto ways = ways_to_read(index, set());
  ASSERT_THAT(names_of(ways), ElementsAre("webdataset"));
  EXPECT_EQ(ways[0].settings, "");
}

TEST(WaysToRead, AreAnErrorThatSaysWhatToDoWhereThereAreNone) {
  dataset::IndexReport index = index_of(0, 0);
  index.rows = 1;
  index.missing = {"a.png"};
  const auto message = [&] { return message_of<DataError>([&] { ways_to_read(index, set()); }); };
  EXPECT_THAT(message(), HasSubstr("chexbench data index set"));
  index.root = "my set";
  EXPECT_THAT(message(), HasSubstr("chexbench data index 'my set'"));
  index.dicom_file = "set/a.dcm";
  EXPECT_THAT(message(), AllOf(HasSubstr("set/a.dcm is a DICOM file"), HasSubstr("export")));
}

TEST(PlanProbe, LeavesTimeForRepeatsThatGiveAnInterval) {
  for (const double images_per_s : {20.0, 500.0, 20000.0}) {
    const FirstLook look{.images_per_s = images_per_s, .repeat_s = 0.3, .measured_s = 0.2};
    for (const std::size_t ways : {1u, 3u}) {
      const ProbePlan plan = plan_probe(look, ways, 58, 1);
      const int steps = plan.measure.warmup_steps + plan.measure.steps;
      const double repeat_s = 0.1 + steps * plan.batch_size / images_per_s;
      EXPECT_LT(5 * repeat_s, *plan.measure.max_seconds) << images_per_s;
      EXPECT_GT(repeat_s, 0.5) << images_per_s;
      EXPECT_LE(static_cast<double>(ways) * *plan.measure.max_seconds, 58);
      EXPECT_GE(plan.measure.repeats, 5);
    }
  }
}

TEST(PlanProbe, TakesSmallerBatchesWhereThereIsHardlyAnyTime) {
  const FirstLook look{.images_per_s = 4, .repeat_s = 17, .measured_s = 16};
  const ProbePlan plan = plan_probe(look, 1, 40, 1);
  EXPECT_LT(plan.batch_size, 16);
  EXPECT_GE(plan.batch_size, 1);
  EXPECT_GE(plan.measure.repeats, 5);
  EXPECT_GE(plan_probe(look, 1, -1, 1).batch_size, 1) << "the time is up already";
}

TEST(ProbeName, IsThatOfTheFolder) {
  EXPECT_EQ(probe_name("/data/nih/"), "nih");
  EXPECT_EQ(probe_name("some/my set"), "my-set");
  EXPECT_EQ(probe_name("s3://bucket/x-rays"), "x-rays");
  EXPECT_EQ(probe_name("some/.hidden"), "hidden");
  EXPECT_EQ(probe_name("/"), "data");
}

const FedAccelerator& find(const std::vector<FedAccelerator>& all, const std::string& name, spec::Precision precision) {
  return *std::ranges::find_if(
      all, [&](const FedAccelerator& one) { return one.name == name && one.precision == precision; });
}

TEST(FedAccelerators, AreCountedByTheRatesOfTheProfiles) {
  const auto all = fed_accelerators(800, measure::Interval{760, 1160});
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &FedAccelerator::images_per_s));
  const FedAccelerator& v100 = find(all, "v100", spec::Precision::f32);
  EXPECT_EQ(v100.images_per_s, 384);
  EXPECT_EQ(v100.count, 2);
  EXPECT_EQ(v100.count_low, 1) << "760 images/s do not suffice for two";
  EXPECT_EQ(v100.count_high, 3);
  EXPECT_NEAR(find(all, "v100", spec::Precision::fp16).share, 800.0 / 1376, 1e-12);
  EXPECT_EQ(find(all, "p100", spec::Precision::f32).images_per_s, 219) << "its fastest batch";
  for (const FedAccelerator& one : all) EXPECT_FALSE(one.name.starts_with("dlio-")) << "no accelerator, but a workload";
}

ProbeResult measured(double images_per_s, double half_interval) {
  ProbeResult result{.root = "set", .images = 95, .png_files = 95, .files = 95, .mean_file_bytes = 4e5, .cores = 2};
  result.ways.push_back({.name = "png",
                         .settings = "",
                         .images_per_s = images_per_s,
                         .ci95 = measure::Interval{images_per_s - half_interval, images_per_s + half_interval},
                         .repeats = 9});
  result.time_s = 60;
  result.work = {.read = 0.04, .decode = 0.85, .resize = 0.08, .other = 0.03};
  result.cores_busy_share = 0.98;
  result.images_per_s_per_core = images_per_s / 2;
  result.wait_op = "map_and_batch";
  result.wait_part = "decode";
  result.cached_share = 1;
  result.accelerators = fed_accelerators(images_per_s, result.ways[0].ci95);
  result.folder = "results/set/now";
  result.spec_file = "results/set/now/spec.json";
  return result;
}

TEST(ProbeText, AnswersInTheFirstLineAndEndsWithTheNextCommand) {
  EXPECT_EQ(
      probe_text(measured(500, 5)),
      "500 images/s from 2 cores; limited by decoding (85 % of the work)\n"
      "  range    495 to 505 (95 % interval, 9 repeats)\n"
      "  data     95 PNGs of 400 kB, resized to 224 x 224; read from memory, so the disk was not measured\n"
      "  work     decoding 85 %, resizing 8 %, reading 4 %; cores 98 % busy\n"
      "  keeps    one V100 (fp16) 36 %, H100 (fp16) 18 %, A100 (fp16) 15 % busy training ResNet50; --gpu NAME for "
      "others\n"
      "  to feed  V100 6 cores, H100 12, A100 14\n"
      "  next     chexbench data convert set --split all --to cached   # decodes only once\n"
      "  details  results/set/now/report.html; `chexbench --config results/set/now/spec.json` measures again\n");
}

TEST(ProbeText, GivesARangeWhereTheIntervalLeavesTheNumberOpen) {
  ProbeResult result = measured(1376, 10);
  EXPECT_THAT(probe_text(result), HasSubstr("  feeds    0 to 1 V100 (fp16), each alone, training ResNet50\n"));
  for (FedAccelerator& accelerator : result.accelerators) accelerator.count = accelerator.count_high = 1;
  EXPECT_THAT(probe_text(result),
              AllOf(HasSubstr("next     nothing"), Not(HasSubstr("keeps")), Not(HasSubstr("to feed"))));
}

TEST(ProbeText, MarksOnceWhatABusyMachineOrASmallSampleMakesUnreliable) {
  ProbeResult busy = measured(500, 5);
  busy.ways[0].grade = results::Grade::machine_too_busy;
  busy.disturbance = "other processes used up to 34 % of its cores in 2 of 6 repeats";
  busy.free_images_per_s = 700;
  EXPECT_THAT(probe_text(busy), AllOf(HasSubstr("of the work)   [machine too busy]\n"),
                                      HasSubstr("9 repeats); other processes used up to 34 % of its cores in 2 of 6 "
                                                "repeats; idle, up to 700 images/s\n")));
  ProbeResult small = measured(500, 5);
  small.ways[0].ci95.reset();
  small.ways[0].repeats = 1;
  small.ways[0].grade = results::Grade::sample_too_small;
  EXPECT_THAT(probe_text(small),
              AllOf(HasSubstr("   [sample too small]\n"), HasSubstr("  range    unknown (1 repeat)\n")));
}

TEST(ProbeText, SaysThatThreadsLackCores) {
  ProbeResult result = measured(500, 5);
  result.cores_busy_share = 0.4;
  EXPECT_THAT(probe_text(result), HasSubstr("cores 40 % busy, and threads wait for a free one\n"));
  result.work = {.read = 0.1, .decode = 0.3, .resize = 0.1, .other = 0.5};
  EXPECT_THAT(probe_text(result), HasSubstr("limited by the cores\n"));
}

TEST(ProbeText, RecommendsAWayOnlyIfItIsShownToBeFaster) {
  ProbeResult result = measured(500, 5);
  result.ways.push_back({.name = "tfrecord",
                         .settings = "data.format=tfrecord",
                         .images_per_s = 600,
                         .ci95 = {},
                         .repeats = 9,
                         .ratio = measure::Ratio{1.2, measure::Interval{1.1, 1.3}}});
  EXPECT_THAT(probe_text(result), HasSubstr("  faster   with --set data.format=tfrecord: 1.20 x (95 % interval 1.10"));
  result.ways[1].grade = results::Grade::cannot_tell;
  EXPECT_THAT(probe_text(result), Not(HasSubstr("data.format=tfrecord")));
}

TEST(ProbeText, SendsASlowDiskToStaging) {
  ProbeResult result = measured(100, 2);
  result.holdup = Holdup::read;
  result.cores_busy_share = 0.3;
  result.cached_share = 0;
  EXPECT_THAT(probe_text(result),
              AllOf(HasSubstr("limited by reading\n"), HasSubstr("cores 30 % busy\n"), HasSubstr("; read from disk\n"),
                    HasSubstr("next     chexbench data stage set FOLDER   # "), Not(HasSubstr("to feed"))));
}

TEST(ProbeText, OffersNoCoresWhereTheyAreNotTheLimit) {
  ProbeResult result = measured(500, 5);
  result.holdup = Holdup::op;
  result.cores_busy_share = 0.5;
  EXPECT_THAT(probe_text(result),
              AllOf(HasSubstr("limited by op map_and_batch (decode)\n"), HasSubstr("cores 50 % busy\n"),
                    HasSubstr("next     chexbench advise --config results/set/now/spec.json   # "),
                    Not(HasSubstr("to feed")), Not(HasSubstr("data convert"))));
}

TEST(ProbeText, NamesTheAcceleratorsThatWereAskedFor) {
  ProbeResult result = measured(500, 5);
  result.accelerators = fed_accelerators(500, result.ways[0].ci95, {"p100", "h200"});
  EXPECT_THAT(probe_text(result), AllOf(HasSubstr("feeds    2 P100 (f32), each"), HasSubstr("keeps    one H200 (fp16)"),
                                        Not(HasSubstr("V100"))));
  EXPECT_THROW(fed_accelerators(500, {}, {"h20"}), SpecError);
  EXPECT_THROW(fed_accelerators(500, {}, {"dlio-h100"}), SpecError) << "which names a workload";
}

TEST(ProbeText, SpeaksOfOneImageInTheSingular) {
  ProbeResult result = measured(500, 5);
  result.images = 1;
  EXPECT_THAT(probe_text(result), HasSubstr("data     1 PNG of 400 kB,"));
  result.ways[0].name = "tfrecord";
  EXPECT_THAT(probe_text(result), HasSubstr("data     1 image in tfrecord shards,"));
  result.images = 95;
  EXPECT_THAT(probe_text(result), HasSubstr("data     95 images in tfrecord shards,"));
}

TEST(ProbeText, AdvisesNothingThatShardsWithoutImagesCannotDo) {
  ProbeResult shards = measured(500, 5);
  shards.ways[0].name = "tfrecord";
  EXPECT_THAT(probe_text(shards), AllOf(HasSubstr("next     chexbench advise"), Not(HasSubstr("data convert"))));
  shards.layout = spec::DataLayout::imagenet;
  shards.bad_records = 2;
  shards.bad_share = 0.001;
  EXPECT_THAT(probe_text(shards),
              AllOf(Not(HasSubstr("data convert")), Not(HasSubstr("data check")),
                    HasSubstr("failed   under 1 % of the reads, skipped; --set data.on_bad_record=stop")));
  shards.holdup = Holdup::read;
  EXPECT_THAT(probe_text(shards), HasSubstr("chexbench data stage set FOLDER --split all --format tfrecord   # "));
}

TEST(ProbeText, CallsDicomsByTheirName) {
  ProbeResult result = measured(500, 5);
  result.ways[0].name = "dicom";
  EXPECT_THAT(probe_text(result), AllOf(HasSubstr("data     95 DICOMs of 400 kB"),
                                        HasSubstr("chexbench data convert set --split all --to cached")));
}

TEST(ProbeText, SaysSoIfTheTimeWasUpBeforeAnythingWasMeasured) {
  ProbeResult result{.root = "set", .time_s = 60, .time_was_up = true, .images_seen = 3};
  EXPECT_THAT(probe_text(result), AllOf(HasSubstr("rate unknown: 60 s were over after 3 images   [sample too small]\n"),
                                        HasSubstr("chexbench set --time 600\n")));
}

TEST(ProbeText, IsMarkedAsPartialIfItWasStopped) {
  ProbeResult result = measured(500, 5);
  EXPECT_THAT(probe_text(result), Not(HasSubstr("partial")));
  result.time_s = 60;
  result.stopped_after_s = 12;
  result.ways[0].grade = results::Grade::sample_too_small;
  EXPECT_THAT(probe_text(result), HasSubstr("   [partial: 12 s of 60 s]   [sample too small]\n"));
  const auto told = nlohmann::json::parse(probe_json(result));
  EXPECT_EQ(told.at("partial"), true);
  EXPECT_EQ(told.at("stopped_after_s"), 12);
}

TEST(ProbeText, OfAFolderWithoutWrittenFilesSaysHowToKeepThem) {
  ProbeResult result = measured(500, 5);
  result.folder.clear();
  result.spec_file.clear();
  EXPECT_THAT(probe_text(result), HasSubstr("--output DIR"));
}

TEST(ProbeJson, HasWhatTheTextSays) {
  const auto told = nlohmann::json::parse(probe_json(measured(500, 5)));
  EXPECT_EQ(told["ways"][0]["ci95"], (nlohmann::json{495.0, 505.0}));
  EXPECT_EQ(told["limit"]["wait_part"], "decode");
  EXPECT_EQ(told["limit"]["holdup"], "cores");
  EXPECT_EQ(told["spec"], "results/set/now/spec.json");
  EXPECT_GE(told["accelerators"].size(), 8u);
  const auto none = nlohmann::json::parse(probe_json({.root = "a\xff", .time_was_up = true}));
  EXPECT_TRUE(none["limit"].is_null());
  EXPECT_TRUE(none["ways"].empty());
}

class ProbeOfASet : public testing::Test {
 protected:
  const std::unique_ptr<comm::World> world_ = comm::join_world();
};

TEST_F(ProbeOfASet, MeasuresItsImages) {
  bool told = false;
  const Probe done =
      probe({.root = CHEXBENCH_TEST_DATA}, *world_, {.time_s = 3, .on_progress = [&](const ProbeProgress& progress) {
                                                       told = true;
                                                       EXPECT_EQ(progress.time_s, 3);
                                                     }});
  EXPECT_TRUE(told);
  ASSERT_EQ(done.result.ways.size(), 1u);
  EXPECT_GT(done.result.ways[0].images_per_s, 0);
  EXPECT_GT(done.result.cores, 0);
  const WorkShares& work = done.result.work;
  EXPECT_GT(work.decode, 0);
  EXPECT_NEAR(work.read + work.decode + work.resize + work.other, 1, 1e-9);
  ASSERT_EQ(done.report.trials.size(), 1u);
  EXPECT_FALSE(done.report.trials[0].repeats.empty());
}

TEST_F(ProbeOfASet, EndsInTimeWhereReadsAreSlow) {
  spec::DataSpec slow{.root = CHEXBENCH_TEST_DATA};
  slow.store.shape.latency_ms = 300;  // the first look alone reads more than 100 files, ten at once
  const Probe done = probe(slow, *world_, {.time_s = 1, .on_progress = {}});
  EXPECT_TRUE(done.result.time_was_up);
  EXPECT_TRUE(done.result.ways.empty());
}

}  // namespace
}  // namespace chexbench::verbs
