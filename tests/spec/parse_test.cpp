#include "spec/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

TEST(Parse, NeedsNothingButTheRoot) {
  TrialSpec expected;
  expected.data.root = "d";
  expected.pipeline = preset("optimized");
  const std::vector<Trial> trials = expand(parse_spec(R"({"data": {"root": "d"}})", "x.json"));
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_EQ(trials.front().spec, expected);
}

TEST(Parse, ReadsTheSpecOfTheDesign) {
  const std::string text = R"({
    "experiment": "naive-vs-optimized",
    "data":     { "root": "data/nih", "format": "images", "split": "train", "decoder": "fast", "deliver": "f32", "on_bad_record": "stop" },
    "preprocess": { "resize": "bilinear", "flip": false },
    "pipeline": "optimized",
    "model":    { "name": "resnet50", "image_size": 224, "weights": "random", "batch_norm": "train", "seed": 1 },
    "training": { "batch_size": 16, "precision": "f32", "optimizer": "adam", "learning_rate": 1e-3 },
    "engine":   "auto",
    "comm":     { "update": "all_reduce", "bucket_bytes": 26214400 },
    "ranks":    "all", "cores_per_rank": "auto",
    "measure":  { "warmup_steps": 3, "steps": 12, "repeats": 6, "page_cache": "as_is", "seed": 1 },
    "sweep":    { "pipeline": ["naive", "optimized"], "data.format": ["images", "tfrecord"] }
  })";
  const SweepSpec sweep = parse_spec(text, "x.json");
  EXPECT_EQ(sweep.base.name, "naive-vs-optimized");
  EXPECT_THAT(names_of(expand(sweep)),
              testing::ElementsAre("naive images", "naive tfrecord", "optimized images", "optimized tfrecord"));
}

TEST(Parse, ReadsEveryKeyOfTheTable) {
  for (const KeyRule& rule : key_rules()) {
    const std::string value = to_text(to_node(rule.get(TrialSpec{})));
    std::string text = value;
    for (std::string path = rule.path; !path.empty();) {
      const std::size_t dot = path.rfind('.');  // from the leaf to the outermost group
      text = "{\"" + path.substr(dot == std::string::npos ? 0 : dot + 1) + "\": " + text + "}";
      path.resize(dot == std::string::npos ? 0 : dot);
    }
    EXPECT_THAT(spec_error(text), testing::Not(HasSubstr("no key is called"))) << text;
  }
}

TEST(Parse, TakesAPipelineInPlace) {
  const std::string ops = R"([{"op": "list_files"}, {"op": "worker_batches"}])";
  const auto pipeline_of = [](const std::string& value) {
    return trials_of("{\"pipeline\": " + value + "}").front().spec.pipeline;
  };
  EXPECT_EQ(pipeline_of(ops).name, "custom");
  EXPECT_EQ(pipeline_of("{\"name\": \"mine\", \"ops\": " + ops + "}").name, "mine");
  EXPECT_EQ(pipeline_of("\"keras\""), preset("keras"));
}

TEST(Parse, DecodesImagenetInColorAndAllElseInGrayUnlessTold) {
  const auto data_of = [](const std::string& keys) {
    return trials_of("{\"data\": {\"root\": \"d\", \"deliver\": \"u8\"" + keys + "}}").front().spec.data;
  };
  EXPECT_EQ(color_of(data_of("")), Color::gray);
  EXPECT_EQ(delivered(data_of("")), Deliver::u8);
  const std::string imagenet = R"(, "layout": "imagenet", "format": "tfrecord")";
  EXPECT_EQ(color_of(data_of(imagenet)), Color::rgb);
  EXPECT_EQ(delivered(data_of(imagenet)), Deliver::u8_rgb);
  EXPECT_EQ(color_of(data_of(imagenet + R"(, "color": "gray")")), Color::gray);
  EXPECT_EQ(color_of(data_of(R"(, "layout": "folders")")), Color::gray);
  EXPECT_EQ(color_of(data_of(R"(, "layout": "folders", "color": "rgb")")), Color::rgb);
  DataSpec floats;
  floats.color = Color::rgb;
  EXPECT_EQ(delivered(floats), Deliver::f32) << "three channels in any case";
  EXPECT_THAT(error_of([&] { data_of(R"(, "color": "bgr")"); }), HasSubstr("data.color must be"));
}

TEST(Parse, LetsEditorsNameTheirSchema) { EXPECT_EQ(trials_of(R"({"$schema": "../schema.json"})").size(), 1u); }

TEST(LoadSpec, ReadsAFileAndNamesItInErrors) {
  const std::string path = testing::TempDir() + "load_spec_" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << R"({"data": {"root": "d"}, "measure": {"steps": 0}})";
  EXPECT_EQ(error_of([&] { load_spec(path); }),
            path + ": measure.steps must be a whole number of at least 1 and at most 1000000, not 0");
  EXPECT_EQ(load_spec(path, {"measure.steps=5"}).base.measure.steps, 5);
  std::filesystem::remove(path);
}

TEST(LoadSpec, NamesAFileThatIsNotThere) {
  EXPECT_EQ(error_of([] { load_spec("no/such.json"); }),
            "cannot read the experiment 'no/such.json': No such file or directory");
}

TEST(ParseExperiment, TakesOneTrialAlone) {
  EXPECT_EQ(parse_trial(R"({"data": {"root": "d"}, "ranks": 2})", "x").ranks, 2);
  EXPECT_THAT(error_of([] { parse_trial(R"({"data": {"root": "d"}, "ranks": [1, 2]})", "x"); }),
              HasSubstr("one trial was expected, not 2"));
}

TEST(ParseExperiment, IgnoresUnknownKeysOnlyWhereItIsToldTo) {
  const std::string text =
      R"({"data": {"root": "d", "newer": 1}, "group": {"newer": {}}, "ranks": 2, "pipeline": {"ops": [
      {"op": "list_files", "newer": 1}, {"op": "read"}, {"op": "map"}, {"op": "batch"}]}})";
  const TrialSpec trial = parse_trial(text, "x", UnknownKeys::ignored);
  EXPECT_EQ(trial.ranks, 2);
  EXPECT_EQ(trial.data.root, "d");
  EXPECT_EQ(trial.pipeline.ops.size(), 4U);
  EXPECT_THAT(error_of([&] { parse_trial(text, "x"); }), HasSubstr("data.newer"));
}

TEST(Parse, GivesSpecErrorsTheirExitCode) {
  try {
    parse_spec("{", "x.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::spec);
  }
}

TEST(Paths, MayBeginWithTheHomeFolder) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr) GTEST_SKIP() << "there is no HOME";
  const SweepSpec spec = parse_spec(R"({"data": {"root": "~/set"}, "model": {"weights": "~/w.safetensors"},
                                        "engine": "onednn"})",
                                    "spec.json", {});
  EXPECT_EQ(spec.base.data.root, std::string(home) + "/set");
  EXPECT_EQ(spec.base.model.weights, std::string(home) + "/w.safetensors");
}

}  // namespace
}  // namespace chexbench::spec
