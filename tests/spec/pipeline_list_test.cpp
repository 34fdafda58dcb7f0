#include "spec/pipeline_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

const char* const kList =
    R"([{"op": "list_files"}, {"op": "read"}, {"op": "map", "parallel_calls": 3}, {"op": "batch"}])";

std::string list_error(const std::string& text) {
  return error_of([&] { parse_pipeline(text, "p.json"); });
}

TEST(PipelineList, FillsInDefaults) {
  const PipelineSpec pipeline = parse_pipeline(kList, "p.json");
  EXPECT_EQ(pipeline.name, "custom");
  EXPECT_EQ(op_of(pipeline, "map").integer("parallel_calls"), 3);
  EXPECT_TRUE(op_of(pipeline, "map").boolean("deterministic"));
}

TEST(PipelineList, TakesItsNameFromAnObject) {
  EXPECT_EQ(parse_pipeline(std::string(R"({"name": "mine", "ops": )") + kList + "}", "p.json").name, "mine");
}

TEST(PipelineList, TakesAWordInsteadOfANumber) {
  const std::string text = R"([{"op": "list_files"}, {"op": "worker_batches"}, {"op": "prefetch", "buffer": )";
  EXPECT_EQ(op_of(parse_pipeline(text + "\"batch\"}]", "p.json"), "prefetch").text("buffer"), "batch");
  EXPECT_EQ(op_of(parse_pipeline(text + "7}]", "p.json"), "prefetch").integer("buffer"), 7);
  EXPECT_THAT(list_error(text + "\"bach\"}]"), HasSubstr("did you mean 'batch'?"));
}

TEST(PipelineList, TakesAWholeNumberForADelay) {
  const PipelineSpec pipeline =
      parse_pipeline(R"([{"op": "list_files", "delay_s": 1}, {"op": "worker_batches"}])", "p");
  EXPECT_EQ(op_of(pipeline, "list_files").number("delay_s"), 1.0);
}

TEST(PipelineList, NamesTheOpAndTheNearestParameter) {
  EXPECT_EQ(list_error(R"([{"op": "list_files"}, {"op": "shuffle", "bufer": 5}])"),
            "p.json: pipeline[1]: op 'shuffle' has no parameter 'bufer' (did you mean 'buffer'?)");
}

TEST(PipelineList, NamesThePathOfAWrongParameter) {
  EXPECT_THAT(
      list_error(R"([{"op": "list_files"}, {"op": "shuffle", "buffer": 0}])"),
      HasSubstr("pipeline[1].buffer must be a whole number of at least 1 and at most 1000000, or 'all', not 0"));
  EXPECT_THAT(list_error(R"([{"op": "list_files"}, {"op": "shuffle", "delay_s": -1}])"),
              HasSubstr("pipeline[1].delay_s must be a number of at least 0 and at most 3600, not -1"));
}

TEST(PipelineList, NamesAnUnknownOp) {
  EXPECT_EQ(list_error(R"([{"op": "lst_files"}])"),
            "p.json: pipeline[0]: no op is called 'lst_files' (did you mean 'list_files'?)");
}

TEST(PipelineList, SaysWhatAnElementMustLookLike) {
  EXPECT_THAT(list_error(R"(["list_files"])"), HasSubstr("pipeline[0] must be an object with an \"op\""));
  EXPECT_THAT(list_error(R"([{"buffer": 1}])"), HasSubstr("pipeline[0] must be an object with an \"op\""));
  EXPECT_THAT(list_error(R"([{"op": 3}])"), HasSubstr("not \"op\": 3"));
  EXPECT_THAT(list_error("3"), HasSubstr("must be a name, the path of a file, a list of ops"));
  EXPECT_THAT(list_error(R"({"name": "x"})"), HasSubstr("must be a name"));
  EXPECT_THAT(list_error(R"({"name": "", "ops": []})"), HasSubstr("pipeline.name must be text that is not empty"));
  EXPECT_THAT(list_error(R"({"nam": "x", "ops": []})"), HasSubstr("did you mean 'name'?"));
}

TEST(PipelineList, ChecksKinds) {
  EXPECT_THAT(list_error(R"([{"op": "list_files"}, {"op": "batch"}])"),
              HasSubstr("p.json: pipeline: pipeline[1] of 'custom': batch takes examples"));
}

TEST(PipelineList, IsReadBackAsItIsWritten) {
  for (const std::string& name : preset_names()) {
    EXPECT_EQ(pipeline_from(to_node(preset(name)), "pipeline", "custom"), preset(name));
  }
}

TEST(SetParameter, ReachesIntoTheOnlyOpOfAName) {
  PipelineSpec pipeline = preset("naive");
  set_parameter(pipeline, "pipeline.map.parallel_calls", std::int64_t{4});
  EXPECT_EQ(op_of(pipeline, "map").integer("parallel_calls"), 4);
}

TEST(SetParameter, CountsOpsOfTheSameName) {
  PipelineSpec pipeline = preset("optimized");
  set_parameter(pipeline, "pipeline.shuffle[1].buffer", std::int64_t{4});
  EXPECT_EQ(op_of(pipeline, "shuffle", 0), op_of(preset("optimized"), "shuffle", 0));
  EXPECT_EQ(op_of(pipeline, "shuffle", 1).integer("buffer"), 4);
}

TEST(SetParameter, AsksWhichOfSeveralIsMeant) {
  PipelineSpec pipeline = preset("optimized");
  EXPECT_THAT(error_of([&] { set_parameter(pipeline, "pipeline.shuffle.buffer", std::int64_t{4}); }),
              HasSubstr("has 2 ops 'shuffle'; say which: pipeline.shuffle[0].buffer is the first"));
}

TEST(SetParameter, NamesTheOpsThatAPipelineHas) {
  PipelineSpec pipeline = preset("pytorch");
  EXPECT_EQ(
      error_of([&] { set_parameter(pipeline, "pipeline.map.parallel_calls", std::int64_t{4}); }),
      "'pipeline.map.parallel_calls': pipeline 'pytorch' has no op 'map'; its ops are list_files, shuffle, shard, "
      "worker_batches, repeat");
  EXPECT_THAT(error_of([&] { set_parameter(pipeline, "pipeline.shuffle[1].buffer", std::int64_t{4}); }),
              HasSubstr("has only 1 op 'shuffle'"));
}

TEST(OpKey, IsCheckedAgainstTheTable) {
  const auto key_error = [](const std::string& key) { return error_of([&] { parse_op_key(key, "x"); }); };
  EXPECT_THAT(key_error("pipeline.mapp.parallel_calls"), HasSubstr("did you mean 'map'?"));
  EXPECT_THAT(key_error("pipeline.map.paralel_calls"), HasSubstr("did you mean 'parallel_calls'?"));
  EXPECT_THAT(key_error("pipeline.map"), HasSubstr("must name an op and its parameter"));
  for (const std::string index : {"[]", "[x]", "[1", "[-1]", "[9999999999]"}) {
    EXPECT_THAT(key_error("pipeline.shuffle" + index + ".buffer"), HasSubstr("must count the ops")) << index;
  }
}

using testing::ElementsAre;

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
