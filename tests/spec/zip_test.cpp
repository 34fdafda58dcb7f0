// Tests sweep.zip: keys that vary together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kZip = R"("zip": [{"model.name": ["resnet50", "densenet121"], "model.image_size": [224, 256]}])";
const std::string kSweep = "{\"sweep\": {" + kZip + R"(, "data.format": ["png", "tfrecord"]}})";

std::string zip_error(const std::string& zip, const std::vector<std::string>& overrides = {}) {
  return spec_error(R"({"data": {"root": "d"}, "sweep": {"zip": )" + zip + "}}", overrides);
}

TEST(Zip, VariesItsKeysTogetherAndCrossesThemWithTheOtherAxes) {
  const std::vector<Trial> trials = trials_of(kSweep);
  EXPECT_THAT(names_of(trials), ElementsAre("resnet50 image_size=224 png", "resnet50 image_size=224 tfrecord",
                                            "densenet121 image_size=256 png", "densenet121 image_size=256 tfrecord"));
  EXPECT_EQ(trials[2].spec.model.name, "densenet121");
  EXPECT_EQ(trials[2].spec.model.image_size, 256);
  EXPECT_EQ(trials[2].spec.data.format, DataFormat::png);
}

TEST(Zip, StandsWhereItIsWrittenAmongTheAxes) {
  EXPECT_THAT(names_of(trials_of(R"({"sweep": {"data.format": ["png", "tfrecord"], )" + kZip + "}}")),
              ElementsAre("png resnet50 image_size=224", "png densenet121 image_size=256",
                          "tfrecord resnet50 image_size=224", "tfrecord densenet121 image_size=256"));
}

TEST(Zip, OfRanksAndBatchesScalesStrongly) {
  const auto trials = trials_of(R"({"sweep": {"zip": [{"ranks": [1, 2, 4], "training.batch_size": [64, 32, 16]}]}})");
  ASSERT_EQ(trials.size(), 3u);
  for (const Trial& trial : trials) EXPECT_EQ(trial.spec.ranks * trial.spec.training.batch_size, 64);
}

TEST(Zip, CrossesWithAnotherZip) {
  EXPECT_THAT(names_of(trials_of(R"({"sweep": {"zip": [
                  {"ranks": [1, 2], "training.batch_size": [8, 4]},
                  {"pipeline": ["naive", "keras"], "pipeline.map.delay_s": [0, 0.5]}]}})")),
              ElementsAre("ranks=1 batch_size=8 naive map.delay_s=0", "ranks=1 batch_size=8 keras map.delay_s=0.5",
                          "ranks=2 batch_size=4 naive map.delay_s=0", "ranks=2 batch_size=4 keras map.delay_s=0.5"));
}

TEST(Zip, MayHaveAValueSeveralTimesButNoCombination) {
  EXPECT_EQ(
      trials_of(R"({"sweep": {"zip": [{"model.name": ["resnet50", "resnet50"], "model.image_size": [224, 256]}]}})")
          .size(),
      2u);
  EXPECT_EQ(zip_error(R"([{"model.name": ["resnet50", "resnet50"], "model.image_size": [224, 224]}])"),
            "x.json: sweep.zip[0]: values 0 and 1 are the same");
}

TEST(Zip, LeavesOutWhatIsExcluded) {
  EXPECT_THAT(names_of(trials_of("{\"sweep\": {" + kZip + R"(, "data.format": ["png", "tfrecord"],
                                 "exclude": [{"model.image_size": 256, "data.format": "png"}]}})")),
              ElementsAre("resnet50 image_size=224 png", "resnet50 image_size=224 tfrecord",
                          "densenet121 image_size=256 tfrecord"));
}

TEST(Zip, LosesAKeyThatIsSetAndKeepsTheOthers) {
  EXPECT_THAT(names_of(trials_of(kSweep, {"model.image_size=64"})),
              ElementsAre("resnet50 png", "resnet50 tfrecord", "densenet121 png", "densenet121 tfrecord"));
  EXPECT_THAT(
      names_of(trials_of(kSweep, {"sweep.model.name=null"})),
      ElementsAre("image_size=224 png", "image_size=224 tfrecord", "image_size=256 png", "image_size=256 tfrecord"));
  EXPECT_EQ(trials_of(kSweep, {"model.name=alexnet", "model.image_size=64"}).size(), 2u);
  EXPECT_THAT(names_of(trials_of(kSweep, {"data.format=png", R"(sweep.model.image_size=[64, 96])"})),
              ElementsAre("resnet50 image_size=64", "resnet50 image_size=96", "densenet121 image_size=64",
                          "densenet121 image_size=96"));
}

TEST(Zip, IsReplacedAndRemovedAsAWhole) {
  EXPECT_THAT(names_of(trials_of(kSweep, {"sweep.zip=null"})), ElementsAre("png", "tfrecord"));
  EXPECT_THAT(names_of(trials_of(
                  kSweep, {R"(sweep.zip=[{"ranks": [1, 2], "training.batch_size": [8, 4]}])", "data.format=png"})),
              ElementsAre("ranks=1 batch_size=8", "ranks=2 batch_size=4"));
  EXPECT_THAT(names_of(trials_of(kSweep, {"sweep=null"})), ElementsAre("optimized png"));
}

TEST(Zip, OfListsThatDifferInLengthIsRefusedUnlessAnOverrideMendsIt) {
  const std::string zip = R"([{"model.name": ["resnet50", "alexnet"], "model.image_size": [224]}])";
  EXPECT_EQ(
      zip_error(zip),
      "x.json: sweep.zip[0]: model.name has 2 values, but model.image_size has 1: keys that vary together have as "
      "many each");
  EXPECT_EQ(zip_error(zip, {"model.image_size=64"}), "nothing was thrown");
}

TEST(Zip, OfAKeyThatIsSweptElsewhereIsRefused) {
  EXPECT_EQ(
      spec_error("{\"sweep\": {" + kZip + R"(, "model.name": ["alexnet"]}})"),
      "x.json: sweep.model.name: model.name is swept twice, as x.json: sweep.zip[0].model.name sweeps it too; keep "
      "one of them");
  EXPECT_THAT(zip_error(R"([{"ranks": [1], "model.seed": [1]}, {"model.seed": [2], "measure.seed": [3]}])"),
              HasSubstr("sweep.zip[1].model.seed: model.seed is swept twice"));
}

TEST(Zip, OfAnotherFormIsRefused) {
  const std::string example = R"({"model.name": ["resnet50", "densenet121"], "model.image_size": [224, 256]})";
  EXPECT_EQ(zip_error("[]"), "x.json: sweep.zip must be a list of objects of keys that vary together, such as [" +
                                 example + "], not an empty one");
  EXPECT_THAT(zip_error(R"({"model.seed": [1], "measure.seed": [1]})"), HasSubstr("], not an object"));
  EXPECT_EQ(zip_error("[{}]"),
            "x.json: sweep.zip[0] must be an object of two keys or more that vary together, such as " + example +
                ", not an empty one");
  EXPECT_THAT(zip_error(R"([{"model.seed": [1]}])"), HasSubstr(", not 'model.seed' alone"));
  EXPECT_THAT(zip_error(R"(["model.seed"])"), HasSubstr(", not the text \"model.seed\""));
  EXPECT_EQ(zip_error(R"([{"ranks": [1], "model.seed": 1}])"),
            "x.json: sweep.zip[0].model.seed must be a list of one value or more, not 1");
  EXPECT_EQ(zip_error(R"([{"ranks": [], "model.seed": []}])"),
            "x.json: sweep.zip[0].ranks must be a list of one value or more, not an empty one");
}

TEST(Zip, OfWrongKeysAndValuesIsRefusedByItsPath) {
  EXPECT_EQ(zip_error(R"([{"modle.name": ["alexnet"], "model.seed": [1]}])"),
            "x.json: sweep.zip[0]: no key is called 'modle.name' (did you mean 'model.name'?)");
  EXPECT_THAT(zip_error(R"([{"experiment": ["a"], "model.seed": [1]}])"),
              HasSubstr("sweep.zip[0]: experiment is the name of all trials"));
  EXPECT_THAT(zip_error(R"([{"data.format": ["png", "pgn"], "model.seed": [1, 2]}])"),
              HasSubstr("x.json: sweep.zip[0].data.format[1] must be one of"));
  EXPECT_EQ(spec_error(R"({"sweep": {"zipp": []}})"), "x.json: sweep: no key is called 'zipp' (did you mean 'zip'?)");
  EXPECT_EQ(spec_error(R"({"sweep": {"exlude": []}})"),
            "x.json: sweep: no key is called 'exlude' (did you mean 'exclude'?)");
}

}  // namespace
}  // namespace chexbench::spec
