#include "spec/contradictions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

// Returns the error of a spec whose data.root is set.
std::string contradiction(const std::string& text) { return spec_error(text, {"data.root=d"}); }

TEST(Contradictions, MomentumNeedsSgd) {
  EXPECT_EQ(contradiction(R"({"training": {"optimizer": "adam", "momentum": 0.5}})"),
            "x.json: training.momentum applies only where training.optimizer is sgd: set that, too, or leave it out");
  EXPECT_EQ(trials_of(R"({"training": {"optimizer": "sgd", "momentum": 0.5}})")[0].spec.training.momentum, 0.5);
}

TEST(Contradictions, WhatAServerIsAskedNeedsOne) {
  EXPECT_THAT(contradiction(R"({"store": {"endpoint": "http://h"}})"),
              HasSubstr("store.endpoint applies only where data.root begins with s3://"));
  EXPECT_THAT(contradiction(R"({"store": {"tries": 2}})"),
              HasSubstr("store.tries applies only where data.root is a URL"));
  EXPECT_EQ(trials_of(R"({"store": {"endpoint": "http://h", "tries": 2}})", {"data.root=s3://b"}).size(), 1u);
  EXPECT_EQ(trials_of(R"({"store": {"shape": {"latency_ms": 2}}})").size(), 1u);
}

TEST(Contradictions, APageCacheDoesNotHoldWhatAServerHas) {
  EXPECT_THAT(spec_error(R"({"measure": {"page_cache": "warm"}})", {"data.root=s3://b"}),
              HasSubstr("measure.page_cache is warm, but data.root is a URL"));
}

TEST(Contradictions, ATraceNeedsTheTimesOfOps) {
  EXPECT_THAT(contradiction(R"({"measure": {"trace": true, "attribution": false}})"),
              HasSubstr("measure.trace needs the times of ops"));
  EXPECT_TRUE(trials_of(R"({"measure": {"trace": true}})")[0].spec.measure.trace);
  EXPECT_FALSE(trials_of("{}")[0].spec.measure.trace);
}

TEST(Contradictions, FilesAtOnceAreFoundOnlyWhereTheyAreReadInParallel) {
  const std::vector<std::string> in_turn = {"data.root=d", "pipeline.interleave.cycle_length=auto",
                                            "pipeline.interleave.parallel=false"};
  EXPECT_THAT(spec_error("{}", in_turn), HasSubstr("interleave.parallel is false, which reads one after the other: set "
                                                   "parallel to true, or cycle_length to a number such as 10"));
}

TEST(Contradictions, EpochsNeedWhatLearnsAndImagesToLearnFrom) {
  EXPECT_EQ(spec_error(R"({"data": {"root": "d"}, "training": {"epochs": 2}, "engine": "none"})"),
            "training.epochs is 2, but engine none learns nothing: take one that does, or leave epochs at 0");
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}, "training": {"epochs": 2}, "engine": "emulated:v100"})"),
              HasSubstr("engine emulated:v100 learns nothing"));
  EXPECT_EQ(spec_error(R"({"training": {"epochs": 2}, "data": {"format": "synthetic"}})"),
            "training.epochs is 2, but data.format synthetic has no images to learn from");
  EXPECT_EQ(spec_error(R"({"data": {"root": "d"}, "training": {"epochs": 2, "warmup_epochs": 2.5}})"),
            "training.warmup_epochs is 2.5, longer than the training's 2 epochs");
}

TEST(Contradictions, StepsAndEpochsExcludeEachOther) {
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}, "training": {"epochs": 2}, "measure": {"steps": 5}})"),
              HasSubstr("measure.steps applies only where training.epochs is 0"));
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}, "training": {"schedule": "cosine"}})"),
              HasSubstr("training.schedule applies only where training.epochs is above 0"));
  EXPECT_THAT(spec_error(R"({"data": {"root": "d"}, "training": {"epochs": 2, "plateau_patience": 2}})"),
              HasSubstr("training.plateau_patience applies only where training.schedule is plateau"));
}

TEST(Contradictions, MomentumMayServeSomeTrialsOfASweep) {
  const std::string sweep = R"("sweep": {"training.optimizer": ["adam", "sgd"]})";
  EXPECT_EQ(trials_of(R"({"training": {"momentum": 0.5}, )" + sweep + "}").size(), 2u);
}

TEST(Contradictions, ASweptKeyMustHaveAMeaningInEveryTrial) {
  EXPECT_THAT(contradiction(R"({"sweep": {"training.optimizer": ["sgd", "adam"], "training.momentum": [0, 0.9]}})"),
              HasSubstr("sweep.training.momentum applies only where training.optimizer is sgd, which trial 'adam "
                        "momentum=0' is not"));
}

TEST(Contradictions, ParametersOfAlphaBetaNeedThatModel) {
  for (const std::string key : {"alpha_s", "beta_bytes_per_s", "launch_s"}) {
    const std::string text = "{\"engine\": \"emulated:v100\", \"comm\": {\"" + key + "\": 1";
    EXPECT_THAT(contradiction(text + "}}"), HasSubstr("comm." + key + " applies only where comm.model is alpha_beta"));
    EXPECT_EQ(trials_of(text + ", \"model\": \"alpha_beta\"}}").size(), 1u);
  }
}

TEST(Contradictions, OnlyAnEmulatedEngineCanHaveItsCommunicationModelled) {
  for (const std::string model : {"none", "alpha_beta"}) {
    const std::string comm = R"({"comm": {"model": ")" + model + "\"}, \"engine\": ";
    for (const std::string engine : {"auto", "onednn", "none"}) {
      EXPECT_THAT(contradiction(comm + '"' + engine + "\"}"),
                  HasSubstr("comm.model is " + model + ", but engine " + engine + " communicates for real"));
    }
    EXPECT_EQ(trials_of(comm + "\"emulated:v100\"}").size(), 1u);
  }
}

TEST(Contradictions, OnlyWhatCanBeSlowedDownHasAScaleModel) {
  const auto scaled = [](const std::string& more) {
    return R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, )" + more + "}";
  };
  EXPECT_EQ(trials_of(scaled(R"("engine": "emulated:v100")")).front().spec.emulation.cores_per_accelerator, 10);
  EXPECT_THAT(contradiction(R"({"emulation": {"cores_per_accelerator": 10}, "engine": "onednn"})"),
              HasSubstr("but engine onednn runs at this machine's speed"));
  EXPECT_THAT(contradiction(R"({"emulation": {"cores_per_accelerator": 10}, "engine": "emulated:v100"})"),
              HasSubstr("comm.model real sends at this machine's speed"));
  EXPECT_THAT(contradiction(scaled(R"("engine": "emulated:v100", "measure": {"page_cache": "cold"})")),
              HasSubstr("slow the store down with store.shape"));
  EXPECT_THAT(contradiction(scaled(R"("engine": "emulated:v100", "pipeline": "keras")")),
              HasSubstr("fewer threads than cores have no scale model"));
}

TEST(Contradictions, OnlyAScaleModelHasASpeedOfCoresToSweep) {
  const std::string swept = R"("engine": "emulated:v100", "sweep": {"emulation.core_speed": [1, 2]}})";
  EXPECT_THAT(contradiction("{" + swept), HasSubstr("emulation.cores_per_accelerator is above 0"));
  const std::string scaled = R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, )";
  EXPECT_EQ(trials_of(scaled + swept).size(), 2u);
}

TEST(Contradictions, NcclSendsGradientsAsTheyLieOnTheGpu) {
  EXPECT_THAT(contradiction(R"({"engine": "cuda", "comm": {"backend": "nccl", "gradient_dtype": "fp16"}})"),
              HasSubstr("comm.gradient_dtype is fp16, but NCCL"));
  for (const std::string backend : {"auto", "mpi"}) {
    EXPECT_EQ(
        trials_of(R"({"engine": "cuda", "comm": {"gradient_dtype": "fp16", "backend": ")" + backend + R"("}})").size(),
        1u);
  }
}

TEST(Contradictions, SchemesOfOurOwnGoWhereTheyCan) {
  EXPECT_THAT(contradiction(R"({"engine": "onednn", "comm": {"model": "shaped"}})"),
              HasSubstr("set comm.update to ring"));
  EXPECT_EQ(trials_of(R"({"engine": "onednn", "comm": {"model": "shaped", "update": "ring", "alpha_s": 1}})").size(),
            1u);
  EXPECT_THAT(contradiction(R"({"engine": "cuda", "comm": {"backend": "nccl", "update": "tree"}})"),
              HasSubstr("NCCL chooses its own way"));
  const std::string grouped = R"({"engine": "emulated:v100", "comm": {"model": "alpha_beta", "update": "hierarchical")";
  EXPECT_THAT(contradiction(grouped + "}}"), HasSubstr("set comm.ranks_per_group"));
  EXPECT_EQ(trials_of(grouped + R"(, "ranks_per_group": 4}})").size(), 1u);
  EXPECT_THAT(contradiction(R"({"engine": "onednn", "comm": {"servers": 2}})"),
              HasSubstr("comm.servers applies only where comm.update is parameter_server"));
}

TEST(Contradictions, ATableIsDescribedWhereItIsAskedForAlone) {
  EXPECT_THAT(contradiction(R"({"data": {"root": "a", "labels": {"columns": "Mass"}}})"),
              HasSubstr("data.labels.columns applies only where data.layout is csv"));
  const std::string csv = R"({"data": {"root": "a", "layout": "csv", "labels": {"none": "No Finding")";
  EXPECT_THAT(contradiction(csv + "}}}"), HasSubstr("data.labels.separator is given"));
  EXPECT_EQ(trials_of(csv + R"(, "separator": "|", "columns": "Finding Labels"}}})").size(), 1u);
}

TEST(Contradictions, OpencvDecodesAllPixelsOfAJpeg) {
  EXPECT_THAT(contradiction(R"({"data": {"root": "a", "decoder": "opencv", "jpeg": "scaled"}})"),
              HasSubstr("data.jpeg applies only where data.decoder is fast"));
}

TEST(Contradictions, SyntheticInputHasNoPipelineToSweep) {
  const std::string synthetic = R"({"data": {"format": "synthetic"}, "sweep": )";
  for (const std::string axis :
       {R"("pipeline": ["naive", "optimized"])", R"("pipeline.map_and_batch.parallel_batches": [1, 2])",
        R"("data.decoder": ["fast", "opencv"])", R"("preprocess.flip": [true, false])",
        R"("data.split": ["train", "test"])", R"("data.root": ["a", "b"])"}) {
    EXPECT_THAT(spec_error(synthetic + "{" + axis + "}}"), HasSubstr("applies only where data.format is not synthetic"))
        << axis;
  }
}

const std::string kTrainedOnly[] = {R"("model.seed": [1, 2])",          R"("model.batch_norm": ["train", "frozen"])",
                                    R"("model.weights": ["a", "b"])",   R"("training.optimizer": ["adam", "sgd"])",
                                    R"("training.momentum": [0, 0.9])", R"("training.learning_rate": [0.1, 0.2])"};

std::string sweep_of(const std::string& engine, const std::string& axis) {
  return R"({"training": {"optimizer": "sgd"}, "engine": ")" + engine + R"(", "sweep": {)" + axis + "}}";
}

TEST(Contradictions, AnEmulatedEngineTrainsEveryLayer) {
  EXPECT_THAT(
      contradiction(R"({"engine": "emulated:v100", "model": {"freeze": "base"}})"),
      HasSubstr("model.freeze is base, but engine emulated:v100 has the time of a step that trains every layer"));
}

TEST(Contradictions, ARandomWindowIsOfAnImageAsItIsAndExcludesAnotherCrop) {
  EXPECT_THAT(contradiction(R"({"preprocess": {"resized_crop": true, "crop": 0.9}})"),
              HasSubstr("preprocess.resized_crop and preprocess.crop (0.9) both say"));
  EXPECT_THAT(contradiction(R"({"preprocess": {"resized_crop": true}, "data": {"format": "cached", "deliver": "u8"}})"),
              HasSubstr("preprocess.resized_crop is true, but data.format is cached"));
}

TEST(Contradictions, AnEngineThatComputesNothingHasNothingOfTrainingToSweep) {
  for (const std::string& axis : kTrainedOnly) {
    if (axis.find("weights") == std::string::npos) {  // engine none refuses the weights file earlier
      EXPECT_THAT(contradiction(sweep_of("none", axis)), HasSubstr("only where engine is neither none nor emulated"));
    }
    EXPECT_THAT(contradiction(sweep_of("emulated:v100", axis)),
                HasSubstr("only where engine is neither none nor emulated"));
    EXPECT_EQ(trials_of(sweep_of("auto", axis)).size(), 2u);
  }
}

TEST(Contradictions, NoEngineHasNoModelAndNoBucketsToSweep) {
  const std::string model = R"("model.name": ["resnet50", "densenet121"])";
  EXPECT_THAT(contradiction(sweep_of("none", model)), HasSubstr("only where engine is not none"));
  EXPECT_EQ(trials_of(sweep_of("emulated:v100", model)).size(), 2u);
  for (const std::string key : {"bucket_bytes", "first_bucket_bytes"}) {
    const std::string axis = "\"comm." + key + "\": [1000, 2000]";
    EXPECT_THAT(contradiction(sweep_of("none", axis)), HasSubstr("only where engine and comm.model are not none"));
    EXPECT_THAT(contradiction(R"({"engine": "emulated:v100", "comm": {"model": "none"}, "sweep": {)" + axis + "}}"),
                HasSubstr("only where engine and comm.model are not none"));
    EXPECT_EQ(trials_of(sweep_of("emulated:v100", axis)).size(), 2u);
  }
}

TEST(Contradictions, OnlyGpusHaveABackendToSweep) {
  const std::string axis = R"("comm.backend": ["nccl", "mpi"])";
  for (const std::string engine : {"none", "onednn", "emulated:v100"}) {
    EXPECT_THAT(contradiction(sweep_of(engine, axis)), HasSubstr("only where engine is auto or cuda"));
  }
  EXPECT_EQ(trials_of(sweep_of("auto", axis)).size(), 2u);
  EXPECT_EQ(trials_of(R"({"comm": {"backend": "nccl"}})", {"engine=none"}).size(), 1u);
}

TEST(Contradictions, WhatAnEngineHasNoUseForMayStayStated) {
  const std::string text = R"({"training": {"optimizer": "sgd", "momentum": 0.5, "learning_rate": 0.1}})";
  for (const std::string engine : {"none", "emulated:v100"}) {
    EXPECT_EQ(trials_of(text, {"engine=" + engine}).front().spec.training.momentum, 0.5);
  }
}

TEST(Contradictions, SyntheticInputKeepsAPipelineThatIsStatedButNotUsed) {
  EXPECT_EQ(trials_of(R"({"data": {"format": "synthetic"}, "pipeline": "naive"})").size(), 1u);
}

TEST(Contradictions, SyntheticInputNeedsNoRoot) {
  EXPECT_EQ(spec_error(R"({"data": {"format": "synthetic"}})"), "nothing was thrown");
}

TEST(Contradictions, SyntheticInputReadsNoFilesThatCouldBeCached) {
  for (const std::string state : {"warm", "cold"}) {
    EXPECT_THAT(contradiction(R"({"data": {"format": "synthetic"}, "measure": {"page_cache": ")" + state + "\"}}"),
                HasSubstr("measure.page_cache is " + state + ", but data.format synthetic reads no files"));
  }
}

TEST(Contradictions, CachedPixelsAreRoundedAndMapped) {
  EXPECT_THAT(contradiction(R"({"data": {"format": "cached"}})"),
              HasSubstr("data.format is cached, whose pixels are rounded to 8 bits, but data.deliver is f32"));
  const std::string cached = R"({"data": {"format": "cached", "deliver": "u8"}})";
  EXPECT_EQ(contradiction(cached), "nothing was thrown");
  EXPECT_THAT(spec_error(cached, {"data.root=s3://b"}), HasSubstr("a folder of this machine, without store.shape"));
  EXPECT_THAT(spec_error(cached, {"data.root=d", "store.shape.iops=9"}), HasSubstr("without store.shape"));
  EXPECT_THAT(spec_error(cached, {"data.root=d", "preprocess.crop=0.9"}),
              HasSubstr("preprocess.crop is 0.9, but data.format is cached, whose pixels were resized already"));
  EXPECT_THAT(spec_error(cached, {"data.root=d", "data.jpeg=scaled"}), HasSubstr("leave data.jpeg at full"));
}

TEST(Contradictions, TheEngineThatComputesNothingHasNoPrecisionAndNoWeights) {
  EXPECT_THAT(contradiction(R"({"engine": "none", "training": {"precision": "bf16"}})"),
              HasSubstr("training.precision is bf16, but engine none computes nothing"));
  EXPECT_THAT(contradiction(R"({"engine": "none", "model": {"weights": "w.safetensors"}})"),
              HasSubstr("engine none has no weights"));
}

TEST(Contradictions, ARelativeErrorNeedsRepeatsEnoughForAnInterval) {
  const std::string text = R"({"measure": {"relative_error": 0.02, "repeats": )";
  EXPECT_THAT(contradiction(text + "4}}"),
              HasSubstr("measure.relative_error needs measure.repeats of at least 5, not 4"));
  EXPECT_EQ(trials_of(text + "5}}").size(), 1u);
}

TEST(Contradictions, NameTheTrialOfASweep) {
  EXPECT_THAT(contradiction(R"({"engine": "none", "sweep": {"training.precision": ["f32", "bf16"]}})"),
              HasSubstr("trial 'bf16': training.precision is bf16"));
}

}  // namespace
}  // namespace chexbench::spec
