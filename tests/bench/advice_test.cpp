// What advise would change in an op list, and what it promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/advice/edits.hpp"
#include "bench/advice/input_model.hpp"
#include "spec/parse.hpp"
#include "spec/presets.hpp"

namespace chexbench::bench {
namespace {

using spec::Experiment;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

Experiment experiment(const std::string& pipeline) {
  return spec::parse_experiment(R"({"data": {"root": "nih"}, "engine": "none", "pipeline": ")" + pipeline + "\"}",
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

Experiment edited(const Experiment& trial, const std::string& name, const EditPlace& place = kTwoRanks) {
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
  const Experiment made = edited(experiment("naive"), "decode_into_batches");
  EXPECT_THAT(names(made.pipeline.ops),
              ElementsAre("list_files", "read", "shard", "shuffle", "repeat", "map_and_batch", "prefetch"));
  EXPECT_EQ(made.pipeline.name, "advised");
}

TEST(Edits, ShuffleRecordsInFrontOfWhatDecodes) {
  EXPECT_THAT(names(edited(experiment("naive"), "shuffle_records").pipeline.ops),
              ElementsAre("list_files", "read", "shuffle", "map", "shard", "repeat", "batch", "prefetch"));
}

TEST(Edits, GiveKerasThreadsAndAPrefetch) {
  const Experiment keras = experiment("keras");
  EXPECT_EQ(edited(keras, "decode_in_parallel").pipeline.ops[5].integer("parallel_calls"), 8);
  EXPECT_EQ(edited(keras, "decode_ahead").pipeline.ops.back().op, "prefetch");
}

TEST(Edits, ReplaceWorkersThatEachBuildABatch) {
  EXPECT_THAT(names(edited(experiment("pytorch"), "replace_workers").pipeline.ops),
              ElementsAre("list_files", "shard", "shuffle", "repeat", "interleave", "map_and_batch"));
}

TEST(Edits, LeaveOutWhatIsThereOrCannotBe) {
  EXPECT_THAT(names(possible_edits(experiment("optimized"), kTwoRanks)), ElementsAre("deliver_u8", "read_tfrecords"));
  EXPECT_THAT(names(possible_edits(experiment("naive"), {.ranks = 1, .cores_per_rank = 4})),
              Not(testing::AnyOf(Contains("shard_first"), Contains("read_tfrecords"))));
}

TEST(Edits, AllGiveListsThatCanRun) {
  for (const char* name : {"naive", "keras", "pytorch", "optimized"}) {
    for (const Edit& edit : possible_edits(experiment(name), kTwoRanks)) {
      EXPECT_NO_THROW(spec::check_kinds(edit.edited.pipeline)) << name << ' ' << edit.name;
      for (const Edit& second : possible_edits(edit.edited, kTwoRanks))
        EXPECT_NO_THROW(spec::check_kinds(second.edited.pipeline)) << name << ' ' << edit.name << ' ' << second.name;
    }
  }
}

// A decode of 8 ms, and 1 ms to copy an image into a batch.
constexpr InputCosts kCosts{.read_s = 1e-3, .decode_s = 7e-3, .order_s = 0, .batch_s = 1e-3};

double predicted(const Experiment& trial, int ranks, int cores, InputCosts costs = kCosts) {
  return predicted_images_per_s(trial, ranks, cores, costs);
}

TEST(InputModel, OneThreadDoesEverythingInKeras) {
  EXPECT_NEAR(predicted(experiment("keras"), 1, 4), 1 / 9e-3, 1e-6);
  InputCosts training = kCosts;
  training.engine_s = 1e-3;  // which waits meanwhile
  EXPECT_NEAR(predicted(experiment("keras"), 1, 4, training), 1 / 10e-3, 1e-6);
}

TEST(InputModel, NaiveDecodesEachImageOnEveryRank) {
  // Ten calls on four cores: 2 x 8 ms / 4 an image that is kept, and the cores have the copies to make as well.
  EXPECT_NEAR(predicted(experiment("naive"), 2, 4), 2 / (17e-3 / 4), 1e-6);
  EXPECT_EQ(predicted_amplification(experiment("naive").pipeline, 2), 2);
}

TEST(InputModel, OptimizedDecodesOnAllCoresAndCopiesNothing) {
  EXPECT_NEAR(predicted(experiment("optimized"), 2, 4), 2 / (8e-3 / 4), 1e-6);
  EXPECT_EQ(predicted_amplification(experiment("optimized").pipeline, 2), 1);
}

TEST(InputModel, WhatTrainsIsTheLimitWhereTheInputIsFaster) {
  InputCosts training = kCosts;
  training.engine_s = 20e-3;
  EXPECT_NEAR(predicted(experiment("optimized"), 1, 4, training), 50, 1e-6);
}

TEST(InputModel, TakesCostsFromWhatOpsDid) {
  report::TrialResult trial{.spec = experiment("naive")};
  trial.spec.engine = "onednn";
  report::RepeatResult& repeat = trial.repeats.emplace_back();
  repeat.images_decoded = 200;
  repeat.images_trained = 100;
  repeat.ops = {{.op = "map", .busy_wall_s = 1.0, .read_s = 0.2, .decode_s = 0.5, .resize_s = 0.1},
                {.op = "shuffle", .busy_wall_s = 0.3},
                {.op = "batch", .busy_wall_s = 0.4}};
  repeat.steps = {{.timings = {.wall_s = 3, .wait_s = 1}}};
  const InputCosts costs = measured_costs(trial);
  EXPECT_NEAR(costs.read_s, 1e-3, 1e-9);
  EXPECT_NEAR(costs.decode_s, 4e-3, 1e-9);
  EXPECT_NEAR(costs.order_s, 3e-3, 1e-9);
  EXPECT_NEAR(costs.batch_s, 4e-3, 1e-9);
  EXPECT_NEAR(costs.engine_s, 20e-3, 1e-9);
}

}  // namespace
}  // namespace chexbench::bench
