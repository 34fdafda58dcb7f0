#include "spec/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "spec/keys.hpp"
#include "spec/pipeline_list.hpp"
#include "spec/resolved.hpp"
#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(Sweep, IsTheProductInTheOrderWrittenTheLastAxisFastest) {
  EXPECT_THAT(
      names_of(trials_of(R"({"sweep": {"data.format": ["tfrecord", "images"], "pipeline": ["naive", "keras"]}})")),
      ElementsAre("tfrecord naive", "tfrecord keras", "images naive", "images keras"));
}

TEST(Sweep, OfRanksAsAListComesLast) {
  EXPECT_THAT(
      names_of(trials_of(R"({"ranks": [1, 2], "sweep": {"pipeline": ["naive", "keras"], "data.format": ["images"]}})")),
      ElementsAre("naive images ranks=1", "naive images ranks=2", "keras images ranks=1", "keras images ranks=2"));
}

TEST(Sweep, LeavesOutWhatIsExcluded) {
  const std::string sweep =
      R"({"ranks": [1, 2], "sweep": {"pipeline": ["naive", "keras"], "data.format": ["images", "tfrecord"],
      "exclude": [{"pipeline": "naive", "data.format": "tfrecord"}, {"pipeline": "keras", "ranks": 2}]}})";
  EXPECT_THAT(names_of(trials_of(sweep)), ElementsAre("naive images ranks=1", "naive images ranks=2",
                                                      "keras images ranks=1", "keras tfrecord ranks=1"));
  // A key that an override removes from the sweep is compared unchanged.
  EXPECT_THAT(names_of(trials_of(sweep, {"data.format=tfrecord"})), ElementsAre("keras ranks=1"));
  EXPECT_THAT(trials_of(sweep, {"sweep.exclude=null"}).size(), 8u);
  EXPECT_EQ(names_of(trials_of(sweep, {"sweep=null"})).size(), 2u);
}

TEST(Sweep, LeavesOutByTheParameterOfAnOp) {
  EXPECT_THAT(
      names_of(trials_of(R"({"pipeline": "naive", "sweep": {"pipeline.map.parallel_calls": [1, 2],
                                     "data.format": ["images", "tfrecord"],
                                     "exclude": [{"pipeline.map.parallel_calls": 2, "data.format": "images"}]}})")),
      ElementsAre("map.parallel_calls=1 images", "map.parallel_calls=1 tfrecord", "map.parallel_calls=2 tfrecord"));
  // One that nothing states has its default, where the pipeline has the op.
  EXPECT_THAT(
      names_of(trials_of(R"({"sweep": {"pipeline": ["naive", "optimized"], "data.format": ["images", "tfrecord"],
                                     "exclude": [{"pipeline.map.parallel_calls": 10, "data.format": "images"}]}})")),
      AllOf(Not(Contains("naive images")), Contains("naive tfrecord")));
}

TEST(Sweep, RefusesExclusionsThatMeanNothing) {
  const auto error = [](const std::string& excluded) {
    return spec_error(R"({"data": {"root": "d"}, "sweep": {"pipeline": ["naive"], "exclude": )" + excluded + "}}");
  };
  EXPECT_THAT(error("{}"), HasSubstr("sweep.exclude must be a list of objects"));
  EXPECT_THAT(error("[{}]"), HasSubstr("sweep.exclude must be a list of objects"));
  EXPECT_THAT(error(R"([{"pipelin": "naive"}])"), HasSubstr("sweep.exclude: no key is called 'pipelin' (did you mean"));
  EXPECT_THAT(error(R"([{"data.format": "pgn"}])"), HasSubstr("sweep.exclude[0].data.format"));
  EXPECT_THAT(error(R"([{"pipeline": "naive"}])"), HasSubstr("sweep.exclude leaves no trial"));
}

TEST(Sweep, SetsWhatItsNamesSay) {
  const std::vector<Trial> trials =
      trials_of(R"({"ranks": [1, 4], "sweep": {"pipeline": ["naive", "keras"], "training.batch_size": [2, 3]}})");
  ASSERT_EQ(trials.size(), 8u);
  const Trial& trial = trials[5];
  EXPECT_EQ(trial.name, "keras batch_size=2 ranks=4");
  EXPECT_EQ(trial.spec.pipeline, preset("keras"));
  EXPECT_EQ(trial.spec.training.batch_size, 2);
  EXPECT_EQ(trial.spec.ranks, 4);
}

TEST(Sweep, OfNothingIsOneTrialNamedByPipelineAndFormat) {
  EXPECT_THAT(names_of(trials_of("{}")), ElementsAre("optimized images"));
}

TEST(Sweep, NamesAKeyInFullWhereItsLastPartIsNotClear) {
  EXPECT_THAT(
      names_of(trials_of(R"({"sweep": {"measure.seed": [1], "preprocess.flip": [true], "cores_per_rank": ["all"]}})")),
      ElementsAre("measure.seed=1 flip=true cores_per_rank=all"));
}

TEST(Sweep, ReachesIntoThePipelineOfTheTrial) {
  const auto trials =
      trials_of(R"({"sweep": {"pipeline.map.parallel_calls": [1, 2], "pipeline": ["naive", "keras"]}})");
  EXPECT_THAT(names_of(trials), ElementsAre("map.parallel_calls=1 naive", "map.parallel_calls=1 keras",
                                            "map.parallel_calls=2 naive", "map.parallel_calls=2 keras"));
  EXPECT_EQ(op_of(trials[3].spec.pipeline, "map").integer("parallel_calls"), 2);
  EXPECT_EQ(trials[3].spec.pipeline.name, "keras");
}

TEST(Sweep, OfAParameterThatThePipelineLacksNamesTheOpsItHas) {
  EXPECT_EQ(
      spec_error(R"({"data": {"root": "d"}, "sweep": {"pipeline.map.parallel_calls": [1, 2]}})"),
      "'pipeline.map.parallel_calls': pipeline 'optimized' has no op 'map'; its ops are list_files, shard, shuffle, "
      "interleave, prefetch, shuffle, repeat, map_and_batch, prefetch");
}

TEST(Sweep, OfPipelinesInPlaceNumbersThoseWithoutAName) {
  const std::string list = R"([{"op": "list_files"}, {"op": "worker_batches"}])";
  EXPECT_THAT(names_of(trials_of("{\"sweep\": {\"pipeline\": [" + list +
                                 ", \"naive\", {\"name\": \"mine\", \"ops\": " + list + "}, " + list + "]}}")),
              ElementsAre("custom-1", "naive", "mine", "custom-4"));
}

TEST(Sweep, OfPipelinesOfTheSameNameIsRefused) {
  const std::string mine = R"({"name": "mine", "ops": [{"op": "list_files"}, {"op": "worker_batches"}]})";
  EXPECT_THAT(spec_error("{\"sweep\": {\"pipeline\": [" + mine + ", " + mine + "]}}"),
              HasSubstr("give each pipeline a different \"name\""));
}

TEST(Sweep, OfRanksTwiceIsRefused) {
  EXPECT_THAT(spec_error(R"({"ranks": [1, 2], "sweep": {"ranks": [1, 2]}})"), HasSubstr("ranks is swept twice"));
}

TEST(Sweep, OfMoreTrialsThanAnyoneMeasuresIsRefused) {
  std::string values = "1";
  for (int i = 2; i <= 400; ++i) values.append(",").append(std::to_string(i));
  EXPECT_THAT(spec_error("{\"sweep\": {\"model.seed\": [" + values + "], \"measure.seed\": [" + values + "]}}"),
              HasSubstr("more than 100000 trials"));
}

TEST(Sweep, CanReachEveryKeyButTheName) {
  TrialSpec experiment;
  experiment.data.root = "s3://bucket";
  experiment.data.layout = DataLayout::csv;
  experiment.data.labels.separator = "|";
  experiment.data.store.shape = {.bandwidth_mb_per_s = 1, .latency_ms = 1, .jitter_ms = 1, .iops = 1};
  experiment.training.optimizer = OptimizerKind::sgd;
  experiment.measure.max_seconds = 1;
  experiment.measure.max_total_seconds = 1;
  experiment.measure.relative_error = 0.5;
  experiment.measure.target_au = 0.9;
  experiment.pipeline = preset("naive");
  for (const KeyRule& rule : key_rules()) {
    if (rule.path == "experiment") continue;
    // Chooses a trial in which the key has a meaning: modelled communication and emulation need an emulated
    // engine, weights need one that trains, and a backend needs GPUs.
    const bool is_emulated = (rule.path.starts_with("comm.") && rule.path != "comm.backend" &&
                              rule.path != "comm.stall_limit_s" && rule.path != "comm.timeout_s") ||
                             rule.path.starts_with("emulation.") || rule.path == "measure.target_au";
    const bool is_mapped = rule.path == "store.read";
    experiment.data.format = is_mapped ? DataFormat::tfrecord : DataFormat::images;
    experiment.engine = is_emulated ? "emulated:v100" : "cuda";
    experiment.comm.model = is_emulated ? CommModel::alpha_beta : CommModel::real;
    experiment.emulation.cores_per_accelerator = rule.path == "emulation.core_speed" ? 10 : 0;
    experiment.data.root = is_mapped ? "folder" : rule.path == "store.redirects" ? "https://host" : "s3://bucket";
    const bool is_table = rule.path.starts_with("data.labels.");
    experiment.data.layout = is_table ? DataLayout::csv : DataLayout::automatic;
    const bool has_classes = rule.path == "data.labels.classes";
    if (has_classes) experiment.data.layout = DataLayout::imagenet;
    experiment.data.labels.separator = is_table && !has_classes ? "|" : "";
    const bool is_training = rule.path.starts_with("training.");
    experiment.training.epochs = is_training ? 5 : 0;
    experiment.training.schedule = is_training ? Schedule::plateau : Schedule::constant;
    experiment.training.target_auroc = is_training ? std::optional(0.9) : std::nullopt;
    experiment.training.tuning_s = is_training ? std::optional(60.0) : std::nullopt;
    experiment.training.clip_gradient_norm = is_training ? std::optional(1.0) : std::nullopt;
    const bool is_beside = rule.path.starts_with("second_job.");
    experiment.second_job.kind = is_beside ? SecondJobKind::both : SecondJobKind::none;
    if (rule.path == "comm.servers") experiment.comm.update = UpdateScheme::parameter_server;
    if (rule.path == "comm.ranks_per_group") {
      experiment.comm.update = UpdateScheme::hierarchical;
      experiment.comm.ranks_per_group = 2;
    }
    const std::string axis = "sweep." + rule.path + "=[" + to_text(to_node(rule.get(experiment))) + "]";
    EXPECT_EQ(expand(parse_spec(to_json(experiment), "x", {axis})).front().spec, experiment) << axis;
  }
}

TEST(Sweep, ATrainingIsRepeatedOnlyWhereThatIsAskedFor) {
  EXPECT_EQ(trials_of(R"({"training": {"epochs": 2}})").front().spec.measure.repeats, 1);
  EXPECT_EQ(trials_of(R"({"training": {"epochs": 2}, "measure": {"repeats": 3}})").front().spec.measure.repeats, 3);
  EXPECT_EQ(trials_of(R"({"training": {"epochs": 0}})").front().spec.measure.repeats, 6);
}

TEST(Sweep, GivesEveryTrialAnotherName) {
  const auto trials =
      trials_of(R"({"ranks": [1, 2], "sweep": {"pipeline": ["naive", "keras"], "data.split": ["train", "all"],
                                    "preprocess.flip": [true, false], "pipeline.map.delay_s": [0, 0.5]}})");
  const std::vector<std::string> names = names_of(trials);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 32u);
}

const std::string kZip = R"("zip": [{"model.name": ["resnet50", "densenet121"], "model.image_size": [224, 256]}])";
const std::string kSweep = "{\"sweep\": {" + kZip + R"(, "data.format": ["images", "tfrecord"]}})";

std::string zip_error(const std::string& zip, const std::vector<std::string>& overrides = {}) {
  return spec_error(R"({"data": {"root": "d"}, "sweep": {"zip": )" + zip + "}}", overrides);
}

TEST(Zip, VariesItsKeysTogetherAndCrossesThemWithTheOtherAxes) {
  const std::vector<Trial> trials = trials_of(kSweep);
  EXPECT_THAT(names_of(trials),
              ElementsAre("resnet50 image_size=224 images", "resnet50 image_size=224 tfrecord",
                          "densenet121 image_size=256 images", "densenet121 image_size=256 tfrecord"));
  EXPECT_EQ(trials[2].spec.model.name, "densenet121");
  EXPECT_EQ(trials[2].spec.model.image_size, 256);
  EXPECT_EQ(trials[2].spec.data.format, DataFormat::images);
}

TEST(Zip, StandsWhereItIsWrittenAmongTheAxes) {
  EXPECT_THAT(names_of(trials_of(R"({"sweep": {"data.format": ["images", "tfrecord"], )" + kZip + "}}")),
              ElementsAre("images resnet50 image_size=224", "images densenet121 image_size=256",
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
  EXPECT_THAT(names_of(trials_of("{\"sweep\": {" + kZip + R"(, "data.format": ["images", "tfrecord"],
                                 "exclude": [{"model.image_size": 256, "data.format": "images"}]}})")),
              ElementsAre("resnet50 image_size=224 images", "resnet50 image_size=224 tfrecord",
                          "densenet121 image_size=256 tfrecord"));
}

TEST(Zip, LosesAKeyThatIsSetAndKeepsTheOthers) {
  EXPECT_THAT(names_of(trials_of(kSweep, {"model.image_size=64"})),
              ElementsAre("resnet50 images", "resnet50 tfrecord", "densenet121 images", "densenet121 tfrecord"));
  EXPECT_THAT(names_of(trials_of(kSweep, {"sweep.model.name=null"})),
              ElementsAre("image_size=224 images", "image_size=224 tfrecord", "image_size=256 images",
                          "image_size=256 tfrecord"));
  EXPECT_EQ(trials_of(kSweep, {"model.name=alexnet", "model.image_size=64"}).size(), 2u);
  EXPECT_THAT(names_of(trials_of(kSweep, {"data.format=images", R"(sweep.model.image_size=[64, 96])"})),
              ElementsAre("resnet50 image_size=64", "resnet50 image_size=96", "densenet121 image_size=64",
                          "densenet121 image_size=96"));
}

TEST(Zip, IsReplacedAndRemovedAsAWhole) {
  EXPECT_THAT(names_of(trials_of(kSweep, {"sweep.zip=null"})), ElementsAre("images", "tfrecord"));
  EXPECT_THAT(names_of(trials_of(
                  kSweep, {R"(sweep.zip=[{"ranks": [1, 2], "training.batch_size": [8, 4]}])", "data.format=images"})),
              ElementsAre("ranks=1 batch_size=8", "ranks=2 batch_size=4"));
  EXPECT_THAT(names_of(trials_of(kSweep, {"sweep=null"})), ElementsAre("optimized images"));
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
  EXPECT_EQ(spec_error("{\"sweep\": {" + kZip + R"(, "model.name": ["alexnet"]}})"),
            "x.json: sweep.model.name: model.name is swept twice, also by x.json: sweep.zip[0].model.name; keep "
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
  EXPECT_THAT(zip_error(R"([{"data.format": ["images", "pgn"], "model.seed": [1, 2]}])"),
              HasSubstr("x.json: sweep.zip[0].data.format[1] must be one of"));
  EXPECT_EQ(spec_error(R"({"sweep": {"zipp": []}})"), "x.json: sweep: no key is called 'zipp' (did you mean 'zip'?)");
  EXPECT_EQ(spec_error(R"({"sweep": {"exlude": []}})"),
            "x.json: sweep: no key is called 'exlude' (did you mean 'exclude'?)");
}

}  // namespace
}  // namespace chexbench::spec
