// Tests which edits advise considers, which gains it predicts, which tries it keeps, and what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "spec/parse.hpp"
#include "spec/pipeline_list.hpp"
#include "verbs/advise/advise.hpp"
#include "verbs/advise/edits.hpp"
#include "verbs/advise/input_model.hpp"

namespace chexbench::verbs {
namespace {

using spec::TrialSpec;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TrialSpec experiment(const std::string& pipeline) {
  return spec::parse_trial(R"({"data": {"root": "nih"}, "engine": "none", "pipeline": ")" + pipeline + "\"}",
                           "the spec of a test");
}

std::vector<std::string> names(const std::vector<spec::OpSpec>& ops) {
  std::vector<std::string> names;
  for (const spec::OpSpec& op : ops) names.push_back(op.op);
  return names;
}

std::vector<std::string> names(const std::vector<Edit>& edits) {
  std::vector<std::string> names;
  for (const Edit& edit : edits) names.push_back(edit.name);
  return names;
}

constexpr EditPlace kTwoRanks{.ranks = 2, .cores_per_rank = 4, .has_tfrecords = true};

TrialSpec edited(const TrialSpec& trial, const std::string& name, const EditPlace& place = kTwoRanks) {
  for (const Edit& edit : possible_edits(trial, place)) {
    if (edit.name == name) return edit.edited;
  }
  ADD_FAILURE() << "no edit " << name;
  return trial;
}

TEST(Edits, ShardNaiveBehindItsFiles) {
  EXPECT_THAT(names(edited(experiment("naive"), "shard_first").pipeline.ops),
              ElementsAre("list_files", "shard", "read", "map", "shuffle", "repeat", "batch", "prefetch"));
}

TEST(Edits, DecodeIntoBatchesWithEverythingBetweenOnRecords) {
  const TrialSpec made = edited(experiment("naive"), "decode_into_batches");
  EXPECT_THAT(names(made.pipeline.ops),
              ElementsAre("list_files", "read", "shard", "shuffle", "repeat", "map_and_batch", "prefetch"));
  EXPECT_EQ(made.pipeline.name, "advised");
}

TEST(Edits, ShuffleRecordsInFrontOfWhatDecodes) {
  EXPECT_THAT(names(edited(experiment("naive"), "shuffle_records").pipeline.ops),
              ElementsAre("list_files", "read", "shuffle", "map", "shard", "repeat", "batch", "prefetch"));
}

TEST(Edits, GiveKerasThreadsAndAPrefetch) {
  const TrialSpec keras = experiment("keras");
  EXPECT_EQ(edited(keras, "decode_in_parallel").pipeline.ops[5].integer("parallel_calls"), 8);
  EXPECT_EQ(edited(keras, "decode_ahead").pipeline.ops.back().op, "prefetch");
}

TEST(Edits, ReplaceWorkersThatEachBuildABatch) {
  EXPECT_THAT(names(edited(experiment("pytorch"), "replace_workers").pipeline.ops),
              ElementsAre("list_files", "shuffle", "shard", "repeat", "interleave", "map_and_batch"));
}

TrialSpec on_tfrecords(const std::string& pipeline) {
  TrialSpec trial = experiment(pipeline);
  trial.data.format = spec::DataFormat::tfrecord;
  return trial;
}

std::int64_t files_at_once(const TrialSpec& trial, std::uint64_t files) {
  const TrialSpec made = edited(trial, "read_more_at_once", {.ranks = 2, .cores_per_rank = 4, .files = files});
  return made.pipeline.ops[3].integer("cycle_length");
}

TEST(Edits, OpenMoreShardsAsFarAsARankHasThem) {
  EXPECT_EQ(files_at_once(on_tfrecords("optimized"), 256), 20);
  EXPECT_EQ(files_at_once(on_tfrecords("optimized"), 24), 12);
  const EditPlace few{.ranks = 2, .cores_per_rank = 4, .files = 16};
  EXPECT_THAT(names(possible_edits(on_tfrecords("optimized"), few)), Not(Contains("read_more_at_once")));
  EXPECT_THAT(names(possible_edits(experiment("optimized"), kTwoRanks)), Not(Contains("read_more_at_once")));
}

TEST(Edits, DeliverBytesWhereAnEngineTakesThem) {
  TrialSpec trial = experiment("optimized");
  EXPECT_THAT(names(possible_edits(trial, kTwoRanks)), Not(Contains("deliver_u8")));
  trial.engine = "onednn";
  EXPECT_EQ(edited(trial, "deliver_u8").data.deliver, Deliver::u8);
}

// An image is 224 x 224 x 3 floats, 602,112 bytes.
constexpr EditPlace kRoomFor50{
    .ranks = 2, .cores_per_rank = 4, .images = 100, .files = 100, .cache_bytes = 50 * 602'112};

TEST(Edits, CacheWhatIsDecodedBehindTheShardAndBeforeTheOrderIsMade) {
  const TrialSpec naive = edited(experiment("naive"), "cache_decoded", kRoomFor50);
  EXPECT_THAT(names(naive.pipeline.ops),
              ElementsAre("list_files", "read", "map", "shard", "cache", "shuffle", "repeat", "batch", "prefetch"));
  const TrialSpec optimized = edited(experiment("optimized"), "cache_decoded", kRoomFor50);
  EXPECT_THAT(names(optimized.pipeline.ops), ElementsAre("list_files", "shard", "interleave", "map", "cache", "shuffle",
                                                         "repeat", "batch", "prefetch"));
  EXPECT_EQ(optimized.pipeline.ops[3].integer("parallel_calls"), 8);
  EXPECT_EQ(optimized.pipeline.ops[5].integer("buffer"), 500);
}

TEST(Edits, WarmACacheUpForAnEpoch) {
  TrialSpec trial = experiment("naive");
  trial.training.batch_size = 16;
  EXPECT_EQ(edited(trial, "cache_decoded", kRoomFor50).measure.warmup_steps, trial.measure.warmup_steps + 4);
}

TEST(Edits, CacheNothingThatDoesNotFit) {
  EditPlace small = kRoomFor50;
  --small.cache_bytes;
  EXPECT_THAT(names(possible_edits(experiment("naive"), small)), Not(Contains("cache_decoded")));
  EXPECT_THAT(names(possible_edits(experiment("naive"), kTwoRanks)), Not(Contains("cache_decoded")));
}

TEST(Edits, LeaveOutWhatIsThereOrCannotBe) {
  EXPECT_THAT(names(possible_edits(experiment("optimized"), kTwoRanks)), ElementsAre("read_tfrecords"));
  EXPECT_THAT(names(possible_edits(experiment("naive"), {.ranks = 1, .cores_per_rank = 4})),
              Not(testing::AnyOf(Contains("shard_first"), Contains("read_tfrecords"))));
}

TEST(Edits, AllGiveListsThatCanRun) {
  for (const char* name : {"naive", "keras", "pytorch", "optimized"}) {
    for (const Edit& edit : possible_edits(on_tfrecords(name), kRoomFor50)) {
      EXPECT_NO_THROW(spec::check_kinds(edit.edited.pipeline)) << name << ' ' << edit.name;
      for (const Edit& second : possible_edits(edit.edited, kRoomFor50))
        EXPECT_NO_THROW(spec::check_kinds(second.edited.pipeline)) << name << ' ' << edit.name << ' ' << second.name;
    }
  }
}

// A decode of 8 ms, and 1 ms to copy an image into a batch.
constexpr InputCosts kCosts{.read_s = 1e-3, .decode_s = 7e-3, .order_s = 0, .batch_s = 1e-3};

double predicted(const TrialSpec& trial, int ranks, int cores, InputCosts costs = kCosts) {
  return predicted_images_per_s(trial, ranks, cores, costs);
}

TEST(InputModel, OneThreadDoesEverythingInKeras) {
  EXPECT_NEAR(predicted(experiment("keras"), 1, 4), 1 / 9e-3, 1e-6);
  InputCosts training = kCosts;
  training.engine_s = 1e-3;  // which is idle meanwhile
  EXPECT_NEAR(predicted(experiment("keras"), 1, 4, training), 1 / 10e-3, 1e-6);
}

TEST(InputModel, NaiveDecodesEachImageOnEveryRank) {
  // Ten calls on four cores: 2 x 8 ms / 4 for each image that is kept, and the same cores make the copies.
  EXPECT_NEAR(predicted(experiment("naive"), 2, 4), 2 / (17e-3 / 4), 1e-6);
}

TEST(InputModel, OptimizedDecodesOnAllCoresAndCopiesNothing) {
  EXPECT_NEAR(predicted(experiment("optimized"), 2, 4), 2 / (8e-3 / 4), 1e-6);
}

TEST(InputModel, WaitsForTheStorageShrinkWithTheFilesOpenAtOnce) {
  InputCosts remote = kCosts;
  remote.stream_s = 200e-3;
  remote.stream_cpu_s = 1e-3;
  TrialSpec trial = on_tfrecords("optimized");
  EXPECT_NEAR(predicted(trial, 1, 4, remote), 1 / (200e-3 / 10), 1e-6);
  trial.pipeline.ops[3].parameters["cycle_length"] = std::int64_t{64};
  EXPECT_NEAR(predicted(trial, 1, 4, remote), 1 / (200e-3 / 64), 1e-6);
  EXPECT_NEAR(predicted(on_tfrecords("keras"), 1, 4, remote), 1 / 209e-3, 1e-6);
}

TEST(InputModel, ACacheOfDecodedImagesLeavesTheirCopies) {
  InputCosts copying = kCosts;
  copying.copy_s = 0.5e-3;
  const TrialSpec trial = edited(experiment("naive"), "cache_decoded", kRoomFor50);
  EXPECT_NEAR(predicted(trial, 2, 4, copying), 2 / 1.5e-3, 1e-6);
}

TEST(InputModel, WhatTrainsIsTheLimitWhereTheInputIsFaster) {
  InputCosts training = kCosts;
  training.engine_s = 20e-3;
  EXPECT_NEAR(predicted(experiment("optimized"), 1, 4, training), 50, 1e-6);
}

TEST(InputModel, TakesCostsFromWhatOpsDid) {
  results::TrialResult trial{.spec = experiment("naive")};
  trial.spec.engine = "onednn";
  results::RepeatResult& repeat = trial.repeats.emplace_back();
  repeat.images_decoded = 200;
  repeat.images_trained = 100;
  repeat.ops = {{.op = "interleave", .busy_wall_s = 0.6, .busy_cpu_s = 0.2},
                {.op = "map", .busy_wall_s = 1.0, .read_s = 0.2, .decode_s = 0.5, .resize_s = 0.1},
                {.op = "shuffle", .busy_wall_s = 0.3},
                {.op = "batch", .busy_wall_s = 0.4}};
  repeat.steps = {{.timings = {.wall_s = 3, .wait_s = 1}}};
  const InputCosts costs = measured_costs(trial);
  EXPECT_NEAR(costs.stream_s, 3e-3, 1e-9);
  EXPECT_NEAR(costs.stream_cpu_s, 1e-3, 1e-9);
  EXPECT_NEAR(costs.copy_s, 602'112 / 4e9, 1e-9);
  EXPECT_NEAR(costs.read_s, 1e-3, 1e-9);
  EXPECT_NEAR(costs.decode_s, 4e-3, 1e-9);
  EXPECT_NEAR(costs.order_s, 3e-3, 1e-9);
  EXPECT_NEAR(costs.batch_s, 4e-3, 1e-9);
  EXPECT_NEAR(costs.engine_s, 20e-3, 1e-9);
}

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
  Advice advice{.trial = "naive images",
                .ranks = 2,
                .emulated = true,
                .images_per_s_before = 100,
                .images_per_s_after = 210,
                .ratio = measure::Ratio{2.1, measure::Interval{2.0, 2.2}},
                .verdict = "naive images starves its accelerator."};
  advice.tries = {attempt(2.1, 2.0, 2.2), {.edit = "another", .why = "it is there", .predicted_ratio = 1.25}};
  advice.tries[0].predicted_ratio = 1.97;
  advice.tries[0].images_per_s = 209.5;
  advice.tries[0].kept = true;
  return advice;
}

TEST(AdviceTable, ShowsWhatWasPredictedMeasuredAndKept) {
  const std::string table = advice_table(an_advice());
  EXPECT_THAT(table, HasSubstr("naive images starves its accelerator."));
  EXPECT_THAT(table, testing::ContainsRegex("an_edit +1.97 x +2.10 x .2.00 to 2.20. +yes"));
  EXPECT_THAT(table, testing::ContainsRegex("another +1.25 x +not tried"));
  EXPECT_THAT(table,
              HasSubstr("naive images (emulated): 2.10 x the images/s with the edits kept (2.00 to 2.20): 210 against "
                        "100."));
  EXPECT_THAT(table, Not(HasSubstr("--budget")));
}

TEST(AdviceTable, IsBriefIfAskedTo) {
  Advice advice = an_advice();
  advice.tries[0].why = "it pays";
  const std::string brief = advice_table(advice, 100, true);
  EXPECT_THAT(brief, AllOf(HasSubstr("it pays"), testing::EndsWith("\nnot tried: another\n"),
                           Not(HasSubstr("it is there")), Not(HasSubstr("starves its accelerator."))));
  advice.tries[0].kept = false;
  EXPECT_THAT(advice_table(advice, 100, true), Not(HasSubstr("it pays")));
}

TEST(AdviceTable, SaysHowTheTriesEnded) {
  Advice none = an_advice();
  none.ratio.reset();
  none.out_of_time = true;
  EXPECT_THAT(advice_table(none), AllOf(HasSubstr("none of the edits tried is faster"), HasSubstr("--budget")));
  for (AdviceTry& attempt : none.tries) attempt.ratio.reset();
  EXPECT_THAT(advice_table(none), AllOf(HasSubstr("the best edit is predicted to reach 1.97 x the images/s"),
                                        Not(HasSubstr("none of the edits tried is faster"))));
  Advice busy = an_advice();
  busy.tries[0].kept = false;
  busy.tries[0].grade = results::Grade::machine_too_busy;
  busy.ratio.reset();
  EXPECT_THAT(advice_table(busy), AllOf(HasSubstr("no: machine too busy"),
                                        HasSubstr("the machine was too busy to show whether an edit is faster")));
  Advice replaced = an_advice();
  replaced.tries[0].kept = false;
  replaced.tries[0].replaced = true;
  EXPECT_THAT(advice_table(replaced), HasSubstr("replaced by a later one"));
  Advice withdrawn = an_advice();
  withdrawn.withdrawn = true;
  withdrawn.grade = results::Grade::cannot_tell;
  EXPECT_THAT(advice_table(withdrawn), HasSubstr("together, the kept edits are not measurably faster (cannot be told: "
                                                 "210 images/s against 100), so the spec is unchanged."));
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
