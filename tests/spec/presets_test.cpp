#include "spec/presets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> ops_of(const std::string& name) {
  std::vector<std::string> ops;
  for (const OpSpec& op : preset(name).ops) ops.push_back(op.op);
  return ops;
}

TEST(Presets, AreTheNamedPipelines) {
  EXPECT_THAT(std::vector<std::string>(preset_names().begin(), preset_names().end()),
              ElementsAre("best", "dali-like", "keras", "naive", "optimized", "pytorch", "tf-official"));
}

TEST(Presets, CarryTheirOwnNames) {
  for (const std::string& name : preset_names()) EXPECT_EQ(preset(name).name, name);
}

TEST(Presets, NaiveReadsAndDecodesEverythingBeforeItShards) {
  EXPECT_THAT(ops_of("naive"),
              ElementsAre("list_files", "read", "map", "shard", "shuffle", "repeat", "batch", "prefetch"));
  EXPECT_EQ(op_of(preset("naive"), "map").integer("parallel_calls"), 10);
  EXPECT_EQ(op_of(preset("naive"), "shuffle").integer("buffer"), 500);
  EXPECT_EQ(op_of(preset("naive"), "prefetch").text("buffer"), "batch");
}

TEST(Presets, OptimizedShardsFilesAndDecodesIntoBatches) {
  EXPECT_THAT(ops_of("optimized"), ElementsAre("list_files", "shard", "shuffle", "interleave", "prefetch", "shuffle",
                                               "repeat", "map_and_batch", "prefetch"));
  const PipelineSpec optimized = preset("optimized");
  EXPECT_EQ(op_of(optimized, "shuffle", 0).text("buffer"), "all");
  EXPECT_EQ(op_of(optimized, "shuffle", 1).integer("buffer"), 500);
  EXPECT_EQ(op_of(optimized, "prefetch", 0).text("buffer"), "batch");
  EXPECT_EQ(op_of(optimized, "prefetch", 1).text("buffer"), "auto");
  EXPECT_EQ(op_of(optimized, "interleave").integer("cycle_length"), 10);
}

TEST(Presets, KerasHasNeitherParallelismNorPrefetch) {
  EXPECT_THAT(ops_of("keras"), testing::Not(testing::Contains("prefetch")));
  EXPECT_EQ(op_of(preset("keras"), "map").integer("parallel_calls"), 1);
}

TEST(Presets, PytorchDrawsOneOrderForAllRanksAndStartsItsWorkersInEachEpoch) {
  EXPECT_THAT(ops_of("pytorch"), ElementsAre("list_files", "shuffle", "shard", "worker_batches", "repeat"));
  const OpSpec workers = op_of(preset("pytorch"), "worker_batches");
  EXPECT_EQ(workers.integer("prefetch_factor"), 2);
  EXPECT_FALSE(workers.boolean("persistent"));
  EXPECT_GT(workers.number("start_s"), 0);
}

TEST(Presets, TfOfficialMapsAndBatchesApart) {
  EXPECT_THAT(ops_of("tf-official"), ElementsAre("list_files", "shard", "shuffle", "interleave", "shuffle", "repeat",
                                                 "map", "batch", "prefetch"));
  EXPECT_EQ(op_of(preset("tf-official"), "shuffle", 1).integer("buffer"), 10000);
}

TEST(Presets, DaliLikeWorksOnOneBatchAtATime) {
  EXPECT_EQ(op_of(preset("dali-like"), "map_and_batch").integer("parallel_batches"), 1);
  EXPECT_EQ(op_of(preset("dali-like"), "shuffle").integer("buffer"), 1024);
}

TEST(Presets, BestStartsEpochsInFrontOfAllThatIsBuffered) {
  EXPECT_THAT(ops_of("best"), ElementsAre("list_files", "shard", "shuffle", "repeat", "interleave", "shuffle",
                                          "prefetch", "map_and_batch", "prefetch"));
}

TEST(Presets, RunForever) {
  for (const std::string& name : preset_names()) EXPECT_EQ(op_of(preset(name), "repeat").text("epochs"), "forever");
}

TEST(Presets, SpellOutEveryParameterButTheDelay) {
  for (const std::string& name : preset_names()) {
    std::ifstream file(std::string(CHEXBENCH_CONFIGS) + "/pipelines/" + name + ".json");
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const OpSpec& op : preset(name).ops) {
      for (const auto& [parameter, value] : op.parameters) {
        if (parameter == "delay_s") continue;
        EXPECT_THAT(text, HasSubstr('"' + parameter + '"')) << name << ' ' << op.op;
      }
    }
  }
}

TEST(Presets, NameTheNearestOfAnUnknownOne) {
  EXPECT_THAT(error_of([] { preset("optimised"); }), HasSubstr("did you mean 'optimized'?"));
}

TEST(FindPipeline, ReadsAFileByItsPath) {
  const std::string path = testing::TempDir() + "my_pipeline_" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"([{"op": "list_files"}, {"op": "read"}, {"op": "map"}, {"op": "batch"}])";
  const PipelineSpec pipeline = find_pipeline(path);
  EXPECT_EQ(pipeline.name, std::filesystem::path(path).stem());
  EXPECT_EQ(pipeline.ops.size(), 4u);
  std::filesystem::remove(path);
}

TEST(FindPipeline, GivesTheSameForThePresetsAndTheirFiles) {
  for (const std::string& name : preset_names()) {
    EXPECT_EQ(find_pipeline(std::string(CHEXBENCH_CONFIGS) + "/pipelines/" + name + ".json"), preset(name));
  }
}

TEST(FindPipeline, NamesAFileThatIsNotThere) {
  EXPECT_THAT(error_of([] { find_pipeline("no/such.json"); }), HasSubstr("'no/such.json': No such file"));
}

}  // namespace
}  // namespace chexbench::spec
