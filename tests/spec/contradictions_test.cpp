#include "spec/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

using testing::HasSubstr;

// A spec, and a part of the error.
struct Refused {
  std::string text;
  std::string error;
  std::vector<std::string> overrides = {"data.root=d"};
};

std::string error_of_case(const Refused& refused) { return spec_error(refused.text, refused.overrides); }

TEST(Contradictions, NameTheKeyTheConditionAndTheWayOut) {
  EXPECT_EQ(error_of_case({R"({"training": {"optimizer": "adam", "momentum": 0.5}})", ""}),
            "x.json: training.momentum applies only where training.optimizer is sgd: set that, too, or leave it out");
  EXPECT_EQ(error_of_case({R"({"training": {"epochs": 2}, "engine": "none"})", ""}),
            "training.epochs is 2, but engine none learns nothing: take one that does, or leave epochs at 0");
}

const Refused kStatedInVain[] = {
    {R"({"store": {"endpoint": "http://h"}})", "store.endpoint applies only where data.root begins with s3://"},
    {R"({"store": {"tries": 2}})", "store.tries applies only where data.root is a URL"},
    {R"({"training": {"epochs": 2}, "measure": {"steps": 5}})",
     "measure.steps applies only where training.epochs is 0"},
    {R"({"training": {"schedule": "cosine"}})", "training.schedule applies only where training.epochs is above 0"},
    {R"({"training": {"epochs": 2, "plateau_patience": 2}})",
     "training.plateau_patience applies only where training.schedule is plateau"},
    {R"({"engine": "emulated:v100", "comm": {"alpha_s": 1}})",
     "comm.alpha_s applies only where comm.model is alpha_beta"},
    {R"({"engine": "emulated:v100", "comm": {"beta_bytes_per_s": 1}})",
     "comm.beta_bytes_per_s applies only where comm.model is alpha_beta"},
    {R"({"engine": "emulated:v100", "comm": {"launch_s": 1}})",
     "comm.launch_s applies only where comm.model is alpha_beta"},
    {R"({"engine": "onednn", "comm": {"servers": 2}})",
     "comm.servers applies only where comm.update is parameter_server"},
    {R"({"data": {"labels": {"columns": "Mass"}}})", "data.labels.columns applies only where data.layout is csv"},
    {R"({"data": {"layout": "csv", "labels": {"none": "No Finding"}}})", "data.labels.separator is given"},
    {R"({"data": {"decoder": "opencv", "jpeg": "scaled"}})", "data.jpeg applies only where data.decoder is fast"},
};

const Refused kExcludeEachOther[] = {
    {R"({"measure": {"page_cache": "warm"}})",
     "measure.page_cache is warm, but data.root is a URL",
     {"data.root=s3://b"}},
    {R"({"measure": {"trace": true, "attribution": false}})", "measure.trace needs the times of ops"},
    {"{}",
     "interleave.parallel is false, which reads one after the other: set parallel to true, or cycle_length to a number "
     "such as 10",
     {"data.root=d", "pipeline.interleave.cycle_length=auto", "pipeline.interleave.parallel=false"}},
    {R"({"training": {"epochs": 2}, "engine": "emulated:v100"})", "engine emulated:v100 learns nothing"},
    {R"({"training": {"epochs": 2}, "data": {"format": "ready"}})",
     "training.epochs is 2, but data.format 'ready' has no images to learn from"},
    {R"({"training": {"epochs": 2, "warmup_epochs": 2.5}})",
     "training.warmup_epochs is 2.5, longer than the training's 2 epochs"},
    {R"({"engine": "emulated:v100", "model": {"freeze": "base"}})",
     "model.freeze is base, but engine emulated:v100 has the time of a step that trains every layer"},
    {R"({"engine": "none", "training": {"precision": "bf16"}})",
     "training.precision is bf16, but engine none computes nothing"},
    {R"({"engine": "none", "model": {"weights": "w.safetensors"}})", "engine none has no weights"},
    {R"({"measure": {"relative_error": 0.02, "repeats": 4}})",
     "measure.relative_error needs measure.repeats of at least 5, not 4"},
    {R"({"engine": "none", "sweep": {"training.precision": ["f32", "bf16"]}})",
     "trial 'bf16': training.precision is bf16"},
    // Communication.
    {R"({"engine": "cuda", "comm": {"backend": "nccl", "gradient_dtype": "fp16"}})",
     "comm.gradient_dtype is fp16, but NCCL"},
    {R"({"engine": "cuda", "comm": {"backend": "nccl", "update": "tree"}})", "NCCL chooses its own way"},
    {R"({"engine": "onednn", "comm": {"model": "shaped"}})", "set comm.update to ring"},
    {R"({"engine": "emulated:v100", "comm": {"model": "alpha_beta", "update": "hierarchical"}})",
     "set comm.ranks_per_group"},
    // Scale models.
    {R"({"emulation": {"cores_per_accelerator": 10}, "engine": "onednn"})",
     "but engine onednn runs at this machine's speed"},
    {R"({"emulation": {"cores_per_accelerator": 10}, "engine": "emulated:v100"})",
     "comm.model real sends at this machine's speed"},
    {R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, "engine": "emulated:v100",
         "measure": {"page_cache": "cold"}})",
     "slow the store down with store.shape"},
    {R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, "engine": "emulated:v100",
         "pipeline": "keras"})",
     "fewer threads than cores have no scale model"},
    // Windows of images, cached pixels and ready-made batches.
    {R"({"preprocess": {"resized_crop": true, "crop": 0.9}})",
     "preprocess.resized_crop and preprocess.crop (0.9) both say"},
    {R"({"preprocess": {"resized_crop": true}, "data": {"format": "cached", "deliver": "u8"}})",
     "preprocess.resized_crop is true, but data.format is cached"},
    {R"({"data": {"format": "cached"}})",
     "data.format is cached, whose pixels are rounded to 8 bits, but data.deliver is f32"},
    {R"({"data": {"format": "cached", "deliver": "u8"}})",
     "a folder of this machine, without store.shape",
     {"data.root=s3://b"}},
    {R"({"data": {"format": "cached", "deliver": "u8"}})",
     "without store.shape",
     {"data.root=d", "store.shape.iops=9"}},
    {R"({"data": {"format": "cached", "deliver": "u8"}})",
     "preprocess.crop is 0.9, but data.format is cached, whose pixels were resized already",
     {"data.root=d", "preprocess.crop=0.9"}},
    {R"({"data": {"format": "cached", "deliver": "u8"}})",
     "leave data.jpeg at full",
     {"data.root=d", "data.jpeg=scaled"}},
    {R"({"data": {"format": "ready"}, "measure": {"page_cache": "warm"}})",
     "measure.page_cache is warm, but data.format 'ready' reads no files"},
    {R"({"data": {"format": "ready"}, "measure": {"page_cache": "cold"}})",
     "measure.page_cache is cold, but data.format 'ready' reads no files"},
};

const Refused kSweptInVain[] = {
    {R"({"sweep": {"training.optimizer": ["sgd", "adam"], "training.momentum": [0, 0.9]}})",
     "sweep.training.momentum applies only where training.optimizer is sgd, which trial 'adam momentum=0' is not"},
    {R"({"engine": "emulated:v100", "sweep": {"emulation.core_speed": [1, 2]}})",
     "emulation.cores_per_accelerator is above 0"},
};

TEST(Contradictions, AreRefused) {
  for (const Refused& refused : kStatedInVain)
    EXPECT_THAT(error_of_case(refused), HasSubstr(refused.error)) << refused.text;
  for (const Refused& refused : kExcludeEachOther)
    EXPECT_THAT(error_of_case(refused), HasSubstr(refused.error)) << refused.text;
  for (const Refused& refused : kSweptInVain)
    EXPECT_THAT(error_of_case(refused), HasSubstr(refused.error)) << refused.text;
}

// What comes close to a contradiction, and the number of trials.
TEST(Contradictions, AreNotSeenWhereThereAreNone) {
  const std::tuple<std::string, std::vector<std::string>, std::size_t> kAccepted[] = {
      {R"({"training": {"optimizer": "sgd", "momentum": 0.5}})", {}, 1},
      {R"({"training": {"momentum": 0.5}, "sweep": {"training.optimizer": ["adam", "sgd"]}})", {}, 2},
      {R"({"store": {"endpoint": "http://h", "tries": 2}})", {"data.root=s3://b"}, 1},
      {R"({"store": {"shape": {"latency_ms": 2}}})", {}, 1},
      {R"({"measure": {"trace": true}})", {}, 1},
      {R"({"measure": {"relative_error": 0.02, "repeats": 5}})", {}, 1},
      {R"({"engine": "emulated:v100", "comm": {"alpha_s": 1, "model": "alpha_beta"}})", {}, 1},
      {R"({"engine": "emulated:v100", "comm": {"beta_bytes_per_s": 1, "model": "alpha_beta"}})", {}, 1},
      {R"({"engine": "emulated:v100", "comm": {"launch_s": 1, "model": "alpha_beta"}})", {}, 1},
      {R"({"engine": "cuda", "comm": {"gradient_dtype": "fp16", "backend": "auto"}})", {}, 1},
      {R"({"engine": "cuda", "comm": {"gradient_dtype": "fp16", "backend": "mpi"}})", {}, 1},
      {R"({"engine": "onednn", "comm": {"model": "shaped", "update": "ring", "alpha_s": 1}})", {}, 1},
      {R"({"engine": "emulated:v100", "comm": {"model": "alpha_beta", "update": "hierarchical", "ranks_per_group": 4}})",
       {},
       1},
      {R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, "engine": "emulated:v100"})", {}, 1},
      {R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, "engine": "emulated:v100",
           "sweep": {"emulation.core_speed": [1, 2]}})",
       {},
       2},
      {R"({"data": {"layout": "csv", "labels": {"none": "No Finding", "separator": "|", "columns": "Finding Labels"}}})",
       {},
       1},
      {R"({"data": {"format": "cached", "deliver": "u8"}})", {}, 1},
      {R"({"data": {"format": "ready"}, "pipeline": "naive"})", {}, 1},
      {R"({"comm": {"backend": "nccl"}})", {"engine=none"}, 1},
  };
  for (const auto& [text, overrides, trials] : kAccepted) EXPECT_EQ(trials_of(text, overrides).size(), trials) << text;
  EXPECT_EQ(spec_error(R"({"data": {"format": "ready"}})"), "nothing was thrown") << "needs no root";
  EXPECT_TRUE(trials_of(R"({"measure": {"trace": true}})").front().spec.measure.trace);
  EXPECT_FALSE(trials_of("{}").front().spec.measure.trace);
  const auto scaled = trials_of(
      R"({"emulation": {"cores_per_accelerator": 10}, "comm": {"model": "none"}, "engine": "emulated:v100"})");
  EXPECT_EQ(scaled.front().spec.emulation.cores_per_accelerator, 10);
}

TEST(Contradictions, OnlyAnEmulatedEngineCanHaveItsCommunicationModelled) {
  for (const std::string model : {"none", "alpha_beta"}) {
    const std::string comm = R"({"comm": {"model": ")" + model + "\"}, \"engine\": ";
    for (const std::string engine : {"auto", "onednn", "none"}) {
      EXPECT_THAT(error_of_case({comm + '"' + engine + "\"}", ""}),
                  HasSubstr("comm.model is " + model + ", but engine " + engine + " communicates for real"));
    }
    EXPECT_EQ(trials_of(comm + "\"emulated:v100\"}").size(), 1u);
  }
}

TEST(Contradictions, SyntheticInputHasNoPipelineToSweep) {
  const std::string ready = R"({"data": {"format": "ready"}, "sweep": )";
  for (const std::string axis :
       {R"("pipeline": ["naive", "optimized"])", R"("pipeline.map_and_batch.parallel_batches": [1, 2])",
        R"("data.decoder": ["fast", "opencv"])", R"("preprocess.flip": [true, false])",
        R"("data.split": ["train", "test"])", R"("data.root": ["a", "b"])"}) {
    EXPECT_THAT(spec_error(ready + "{" + axis + "}}"), HasSubstr("applies only where data.format is not 'ready'"))
        << axis;
  }
}

std::string sweep_of(const std::string& engine, const std::string& axis) {
  return R"({"training": {"optimizer": "sgd"}, "engine": ")" + engine + R"(", "sweep": {)" + axis + "}}";
}

std::string sweep_error(const std::string& engine, const std::string& axis) {
  return error_of_case({sweep_of(engine, axis), ""});
}

TEST(Contradictions, AnEngineHasNothingToSweepThatItDoesNotUse) {
  for (const std::string axis : {R"("model.seed": [1, 2])", R"("model.batch_norm": ["train", "frozen"])",
                                 R"("model.weights": ["a", "b"])", R"("training.optimizer": ["adam", "sgd"])",
                                 R"("training.momentum": [0, 0.9])", R"("training.learning_rate": [0.1, 0.2])"}) {
    if (axis.find("weights") == std::string::npos) {  // engine none refuses the weights file earlier
      EXPECT_THAT(sweep_error("none", axis), HasSubstr("only where engine is neither none nor emulated"));
    }
    EXPECT_THAT(sweep_error("emulated:v100", axis), HasSubstr("only where engine is neither none nor emulated"));
    EXPECT_EQ(trials_of(sweep_of("auto", axis)).size(), 2u);
  }
  const std::string model = R"("model.name": ["resnet50", "densenet121"])";
  EXPECT_THAT(sweep_error("none", model), HasSubstr("only where engine is not none"));
  EXPECT_EQ(trials_of(sweep_of("emulated:v100", model)).size(), 2u);
  for (const std::string key : {"bucket_bytes", "first_bucket_bytes"}) {
    const std::string axis = "\"comm." + key + "\": [1000, 2000]";
    EXPECT_THAT(sweep_error("none", axis), HasSubstr("only where engine and comm.model are not none"));
    EXPECT_THAT(
        error_of_case({R"({"engine": "emulated:v100", "comm": {"model": "none"}, "sweep": {)" + axis + "}}", ""}),
        HasSubstr("only where engine and comm.model are not none"));
    EXPECT_EQ(trials_of(sweep_of("emulated:v100", axis)).size(), 2u);
  }
  const std::string backend = R"("comm.backend": ["nccl", "mpi"])";
  for (const std::string engine : {"none", "onednn", "emulated:v100"})
    EXPECT_THAT(sweep_error(engine, backend), HasSubstr("only where engine is auto or cuda"));
  EXPECT_EQ(trials_of(sweep_of("auto", backend)).size(), 2u);
}

TEST(Contradictions, WhatAnEngineHasNoUseForMayStayStated) {
  const std::string text = R"({"training": {"optimizer": "sgd", "momentum": 0.5, "learning_rate": 0.1}})";
  for (const std::string engine : {"none", "emulated:v100"}) {
    EXPECT_EQ(trials_of(text, {"engine=" + engine}).front().spec.training.momentum, 0.5);
  }
}

}  // namespace
}  // namespace chexbench::spec
