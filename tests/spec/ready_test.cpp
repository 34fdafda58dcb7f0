// Tests ready-made batches (data.format ready) together with trials that read images: a sweep of the input leaves
// them one trial.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/pipeline_list.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFormats = R"("data.format": ["images", "ready"])";

std::vector<Trial> swept(const std::string& axes, const std::vector<std::string>& overrides = {}) {
  return trials_of(R"({"sweep": {)" + axes + ", " + kFormats + "}}", overrides);
}

TEST(Synthetic, IsOneTrialBesideSweptPipelines) {
  const auto trials = swept(R"("pipeline": ["naive", "keras"])");
  EXPECT_THAT(names_of(trials), ElementsAre("naive images", "ready", "keras images"));
  EXPECT_EQ(trials[1].spec.data.format, DataFormat::ready);
  EXPECT_THAT(names_of(trials_of("{\"sweep\": {" + kFormats + R"(, "pipeline": ["naive", "keras"]}})")),
              ElementsAre("images naive", "images keras", "ready"));
}

TEST(Synthetic, IsOneTrialWhateverOfTheInputIsSwept) {
  for (const std::string axis :
       {R"("data.decoder": ["fast", "opencv"])", R"("data.split": ["train", "test"])",
        R"("preprocess.flip": [true, false])", R"("preprocess.crop": [1, 0.5])", R"("data.jpeg": ["full", "scaled"])",
        R"("store.shape.latency_ms": [2, 30])", R"("pipeline.map_and_batch.parallel_batches": [1, 2])",
        R"("pipeline.shuffle[1].buffer": [10, 20])", R"("measure.page_cache": ["as_is", "warm"])",
        R"("data.on_bad_record": ["stop", "skip"])"}) {
    const auto trials = swept(axis);
    ASSERT_EQ(trials.size(), 3u) << axis;
    EXPECT_EQ(trials[1].name, "ready") << axis;
  }
  EXPECT_THAT(names_of(expand(parse_spec(R"({"sweep": {"data.root": ["a", "b"], )" + kFormats + "}}", "x.json"))),
              ElementsAre("a images", "ready", "b images"));
  EXPECT_EQ(trials_of(R"({"data": {"layout": "csv"}, "sweep": {"data.labels.columns": ["a", "b"], )" + kFormats + "}}")
                .size(),
            3u);
  EXPECT_EQ(trials_of(R"({"sweep": {"store.tries": [1, 2], )" + kFormats + "}}", {"data.root=s3://b"}).size(), 3u);
}

TEST(Synthetic, StillVariesInWhatHasAnEffect) {
  EXPECT_THAT(names_of(trials_of(R"({"ranks": [1, 2], "sweep": {"pipeline": ["naive", "keras"], )" + kFormats + "}}")),
              ElementsAre("naive images ranks=1", "naive images ranks=2", "ready ranks=1", "ready ranks=2",
                          "keras images ranks=1", "keras images ranks=2"));
  EXPECT_EQ(swept(R"("training.batch_size": [1, 2], "data.deliver": ["f32", "u8"])").size(), 8u);
}

TEST(Synthetic, HasTheInputThatIsStatedBesideTheSweep) {
  const auto trial = [](const std::vector<std::string>& overrides) {
    return swept(R"("pipeline": ["naive", "keras"], "data.decoder": ["opencv", "fast"])", overrides)[1].spec;
  };
  EXPECT_EQ(trial({}).pipeline, preset("optimized"));
  EXPECT_EQ(trial({}).data.decoder, DecoderKind::fast);
  EXPECT_EQ(trial_key(trial({})), trial_key(trials_of("{}", {"data.format=ready"}).front().spec));
}

TEST(Synthetic, IsNotAskedForOpsThatItsPipelineLacks) {
  const auto trials = swept(R"("pipeline": ["naive", "keras"])", {"pipeline.map.delay_s=0.5"});
  EXPECT_THAT(names_of(trials), ElementsAre("naive images", "ready", "keras images"));
  EXPECT_EQ(op_of(trials[2].spec.pipeline, "map").number("delay_s"), 0.5);
  EXPECT_EQ(trials_of("{}", {"data.format=ready", "pipeline.map.delay_s=0.5"}).size(), 1u);
}

TEST(Synthetic, LeavesAStatedPageCacheToTheTrialsThatReadFiles) {
  const auto trials = trials_of("{\"sweep\": {" + kFormats + "}}", {"measure.page_cache=cold"});
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].spec.measure.page_cache, PageCache::cold);
  EXPECT_EQ(trials[1].spec.measure.page_cache, PageCache::as_is);
}

TEST(Synthetic, MayBeLeftOutOrZipped) {
  EXPECT_THAT(names_of(swept(R"("pipeline": ["naive", "keras"], "exclude": [{"data.format": "ready"}])")),
              ElementsAre("naive images", "keras images"));
  EXPECT_THAT(names_of(swept(R"("pipeline": ["naive", "keras"], "exclude": [{"pipeline": "naive"}])")),
              ElementsAre("keras images", "ready"));
  EXPECT_THAT(names_of(trials_of(R"({"sweep": {"zip": [
                  {"data.format": ["images", "ready", "ready"], "pipeline": ["naive", "keras", "naive"]}]}})")),
              ElementsAre("images naive", "ready"));
}

TEST(Synthetic, AloneHasNothingOfTheInputToSweep) {
  const std::string all = R"({"sweep": {"pipeline": ["naive", "keras"], "data.format": ["ready"]}})";
  EXPECT_EQ(spec_error(all),
            "sweep.pipeline applies only where data.format is not 'ready', which trial 'ready' is not: its trials "
            "would all be the same");
  EXPECT_EQ(spec_error(all, {"data.format=ready"}), spec_error(all));
  EXPECT_THAT(spec_error(R"({"data": {"format": "ready"}, "sweep": {"measure.page_cache": ["as_is", "warm"]}})"),
              HasSubstr("sweep.measure.page_cache applies only where data.format is not 'ready'"));
}

TEST(Synthetic, DoesNotExcuseWhatHasNoEffectForAnotherReason) {
  EXPECT_THAT(
      spec_error("{\"sweep\": {\"store.tries\": [1, 2], " + kFormats + "}}", {"data.root=d"}),
      HasSubstr("sweep.store.tries applies only where data.root is a URL, which trial 'tries=1 images' is not"));
  EXPECT_THAT(
      spec_error("{\"engine\": \"none\", \"sweep\": {" + kFormats + R"(, "model.seed": [1, 2]}})", {"data.root=d"}),
      HasSubstr("sweep.model.seed applies only where engine is neither none nor emulated"));
}

}  // namespace
}  // namespace chexbench::spec
