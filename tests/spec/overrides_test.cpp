// Tests --set key=value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/parse.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TrialSpec with(const std::vector<std::string>& overrides, const std::string& text = "{}") {
  const std::vector<Trial> trials = trials_of(text, overrides);
  EXPECT_EQ(trials.size(), 1u);
  return trials.front().spec;
}

TEST(Override, TakesJsonOrElseText) {
  EXPECT_EQ(with({"training.batch_size=8"}).training.batch_size, 8);
  EXPECT_EQ(with({"training.learning_rate=2e-2"}).training.learning_rate, 0.02);
  EXPECT_TRUE(with({"preprocess.flip=true"}).preprocess.flip);
  EXPECT_EQ(with({"data.format=tfrecord"}).data.format, DataFormat::tfrecord);
  EXPECT_EQ(with({"data.format=\"tfrecord\""}).data.format, DataFormat::tfrecord);
}

TEST(Override, TakesAnAlias) {
  EXPECT_EQ(with({"data.format=png"}).data.format, DataFormat::images);
  EXPECT_EQ(with({"data.format=synthetic"}).data.format, DataFormat::ready);
  EXPECT_THAT(names_of(trials_of(R"({"sweep": {"data.format": ["png", "synthetic"]}})")),
              ElementsAre("images", "ready"));
  EXPECT_THAT(spec_error(R"({"sweep": {"data.format": ["png", "images"]}})"), HasSubstr("values 0 and 1 are the same"));
}

TEST(Override, LeavesTheValueOfAFreeTextAlone) {
  EXPECT_EQ(with({"data.root=2017"}).data.root, "2017");
  EXPECT_EQ(with({"data.root=//server/a=b"}).data.root, "//server/a=b");
  EXPECT_EQ(with({"experiment=true"}).name, "true");
}

TEST(Override, GivesAKeyAnyText) {
  for (const std::string root : {"2017", "null", "[1]", "\"", "a b", "r\xe9p", "\"r\xe9p\"", "a=b", "\x01"})
    EXPECT_EQ(with({text_override("data.root", root)}).data.root, root);
}

TEST(Override, StandsOverTheFileAndTheLastOneWins) {
  EXPECT_EQ(with({"measure.steps=3", "measure.steps=4"}, R"({"measure": {"steps": 2}})").measure.steps, 4);
}

TEST(Override, OfNullGoesBackToTheDefault) {
  EXPECT_EQ(with({"measure.steps=null"}, R"({"measure": {"steps": 2}})").measure.steps, MeasureSpec{}.steps);
  EXPECT_EQ(with({"training.optimizer=adam", "training.momentum=null"},
                 R"({"training": {"optimizer": "sgd", "momentum": 0.5}})")
                .training.optimizer,
            OptimizerKind::adam);
}

TEST(Override, OfASweptKeyRemovesItsAxis) {
  const std::string text = R"({"sweep": {"pipeline": ["naive", "optimized"], "data.format": ["images", "tfrecord"]}})";
  EXPECT_THAT(names_of(trials_of(text, {"data.format=tfrecord"})), ElementsAre("naive", "optimized"));
  EXPECT_EQ(trials_of(text, {"data.format=tfrecord"})[0].spec.data.format, DataFormat::tfrecord);
  EXPECT_THAT(names_of(trials_of(text, {"pipeline=keras"})), ElementsAre("images", "tfrecord"));
  EXPECT_THAT(names_of(trials_of(text, {"pipeline=keras", "data.format=images"})), ElementsAre("keras images"));
}

TEST(Override, OfAnotherKeyKeepsTheAxes) {
  const std::string text = R"({"sweep": {"data.format": ["images", "tfrecord"]}})";
  EXPECT_EQ(trials_of(text, {"data.split=test"}).size(), 2u);
}

TEST(Override, OfRanksReplacesTheirList) {
  EXPECT_EQ(with({"ranks=2"}, R"({"ranks": [1, 2, 4]})").ranks, 2);
  EXPECT_THAT(names_of(trials_of(R"({"ranks": 3})", {"ranks=[1,2]"})), ElementsAre("ranks=1", "ranks=2"));
  EXPECT_EQ(with({"ranks=all"}, R"({"sweep": {"ranks": [1, 2]}})").ranks, 0);
}

TEST(Override, TakesRanksAsTheOtherOptionsDo) {
  for (const std::string ranks : {"ranks=1,2", "ranks=[1,2]", "sweep.ranks=1,2", "sweep.ranks=[1, 2]"}) {
    EXPECT_THAT(names_of(trials_of(R"({"ranks": [4, 8]})", {ranks})), ElementsAre("ranks=1", "ranks=2")) << ranks;
    EXPECT_THAT(names_of(trials_of(R"({"sweep": {"ranks": [4, 8]}})", {ranks})), ElementsAre("ranks=1", "ranks=2"))
        << ranks;
  }
  EXPECT_THAT(names_of(trials_of("{}", {"ranks=[1,2]", "sweep.ranks=null"})), ElementsAre("optimized images"));
  EXPECT_THAT(names_of(trials_of(R"({"ranks": 4})", {"sweep.ranks=null"})), ElementsAre("optimized images"));
  EXPECT_EQ(with({"sweep.ranks=null"}, R"({"ranks": 4})").ranks, 4);
  EXPECT_THAT(spec_error("{}", {"ranks=1,"}), HasSubstr("ranks: several numbers of ranks are a list, such as"));
  EXPECT_THAT(spec_error("{}", {"ranks=1,0"}), HasSubstr("ranks[1] must be a whole number of at least 1, or 'all'"));
}

TEST(Override, ThatRemovesTheSweepRemovesAllOfIt) {
  const std::string text = R"({"ranks": [1, 2], "sweep": {"data.format": ["images", "tfrecord"],
      "zip": [{"pipeline": ["naive", "keras"], "model.seed": [1, 2]}], "pipeline.map.delay_s": [0, 1],
      "exclude": [{"pipeline": "optimized", "ranks": 2}]}})";
  EXPECT_THAT(names_of(trials_of(text, {"sweep=null"})), ElementsAre("ranks=1", "ranks=2"));
  EXPECT_THAT(names_of(trials_of(text, {"sweep=null", "ranks=all"})), ElementsAre("optimized images"));
  EXPECT_THAT(names_of(trials_of(text, {R"(sweep={"data.split": ["test"]})", "ranks=2"})), ElementsAre("test"));
}

TEST(Override, ReachesIntoThePipeline) {
  const TrialSpec experiment = with({"pipeline.map.parallel_calls=4"}, R"({"pipeline": "naive"})");
  EXPECT_EQ(op_of(experiment.pipeline, "map").integer("parallel_calls"), 4);
  EXPECT_EQ(experiment.pipeline.name, "naive");
}

TEST(Override, TakesAutoForCallsAndFilesAtOnce) {
  const TrialSpec experiment = with({"pipeline.map.parallel_calls=auto", "pipeline.interleave.cycle_length=auto"},
                                    R"({"pipeline": "tf-official"})");
  EXPECT_EQ(op_of(experiment.pipeline, "map").text("parallel_calls"), "auto");
  EXPECT_EQ(op_of(experiment.pipeline, "interleave").integer_or("cycle_length", 10), 10);
}

TEST(Override, ReachesIntoThePipelineOfEveryTrial) {
  const auto trials = trials_of(R"({"sweep": {"pipeline": ["naive", "keras"]}})", {"pipeline.map.delay_s=0.5"});
  ASSERT_EQ(trials.size(), 2u);
  for (const Trial& trial : trials) EXPECT_EQ(op_of(trial.spec.pipeline, "map").number("delay_s"), 0.5);
}

TEST(Override, OfAnOpParameterRemovesItsAxis) {
  const std::string text = R"({"pipeline": "naive", "sweep": {"pipeline.map.parallel_calls": [1, 2]}})";
  EXPECT_EQ(op_of(with({"pipeline.map.parallel_calls=7"}, text).pipeline, "map").integer("parallel_calls"), 7);
}

TEST(Override, TakesAnOpListInPlace) {
  const TrialSpec experiment =
      with({R"(pipeline={"name": "mine", "ops": [{"op": "list_files"}, {"op": "worker_batches"}]})"});
  EXPECT_EQ(experiment.pipeline.name, "mine");
}

TEST(Override, AddsChangesAndRemovesAxes) {
  EXPECT_THAT(names_of(trials_of("{}", {R"(sweep.data.format=["images", "tfrecord"])"})),
              ElementsAre("images", "tfrecord"));
  const std::string text = R"({"sweep": {"data.format": ["images", "tfrecord"], "data.split": ["train", "test"]}})";
  EXPECT_THAT(names_of(trials_of(text, {"sweep.data.split=null"})), ElementsAre("images", "tfrecord"));
  EXPECT_THAT(names_of(trials_of(text, {R"(sweep={"ranks": [1, 2]})"})), ElementsAre("ranks=1", "ranks=2"));
}

TEST(Override, NamesItselfInErrors) {
  EXPECT_EQ(spec_error("{}", {"measure.steps=0"}),
            "--set measure.steps=0: measure.steps must be a whole number of at least 1 and at most 1000000, not 0");
  EXPECT_EQ(spec_error("{}", {"steps=3"}), "--set steps=3: no key is called 'steps' (did you mean 'measure.steps'?)");
  EXPECT_EQ(spec_error("{}", {"measure.steps"}), "--set measure.steps: must be key=value, such as data.format=images");
  EXPECT_EQ(spec_error("{}", {"=3"}), "--set =3: must be key=value, such as data.format=images");
  EXPECT_EQ(spec_error("{}", {"data={\"root\": \"d\"}"}),
            "--set data={\"root\": \"d\"}: data is a group of keys; set one of them, such as data.root");
  EXPECT_THAT(spec_error("{}", {"pipeline.map.x=1"}), HasSubstr("op 'map' has no parameter 'x'"));
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}})", {"pipeline.map.parallel_calls=0"}),
              HasSubstr("pipeline.map.parallel_calls must be a whole number of at least 1 and at most 1000000, or "
                        "'auto', not 0"));
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}})", {"pipeline.map.parallel_calls=-4"}),
              HasSubstr("of at least 1 and at most 1000000, or 'auto', not -4"));
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}})", {"pipeline.interleave.cycle_length=Auto"}),
              HasSubstr("or 'auto', not the text \"Auto\" (did you mean 'auto'?)"));
}

}  // namespace
}  // namespace chexbench::spec
