#include "engine/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"
#include "spec/keys.hpp"

namespace chexbench::engine {
namespace {

EngineConfig config() {
  EngineConfig config;
  config.model = {.name = "resnet50", .image_size = 224};
  config.training.batch_size = 16;
  config.training.precision = spec::Precision::fp16;
  return config;
}

TEST(EngineKinds, HaveNamesOfTheirOwnAndCanBeMade) {
  std::vector<std::string_view> names;
  for (const EngineKind* kind : engine_kinds()) {
    names.push_back(kind->name);
    EXPECT_NE(kind->make, nullptr) << kind->name;
    EXPECT_EQ(find_engine_kind(std::string(kind->name) + (kind->takes_profile ? ":v100" : "")), kind) << kind->name;
  }
  EXPECT_THAT(names, testing::ElementsAre("cuda", "onednn", "none", "emulated"));
}

TEST(EngineKinds, NameTheLibrariesOfEnginesThatComputeAndLoadNoneToTellTheirVersions) {
  std::vector<std::string> names;
  for (const EngineKind* kind : engine_kinds()) {
    EXPECT_EQ(kind->libraries != nullptr, kind->trains) << kind->name;
    if (kind->libraries == nullptr) continue;
    for (const auto& [name, version] : kind->libraries()) {
      names.push_back(name);
      EXPECT_EQ(version, std::nullopt) << name << " is not loaded: no engine was made";
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("CUDA driver", "CUDA runtime", "cuBLASLt", "cuDNN", "oneDNN"));
}

TEST(EngineKinds, SayOfAnEngineWhatItSaysOfItself) {
  for (const char* name : {"none", "emulated:v100"}) {
    const auto engine = make_engine(name, config());
    EXPECT_EQ(engine->traits().trains, find_engine_kind(name)->trains) << name;
    EXPECT_EQ(engine->traits().emulated, find_engine_kind(name)->takes_profile) << name;
  }
}

TEST(EngineKinds, AreFoundByNameAndNoneIsFoundForOthers) {
  EXPECT_EQ(find_engine_kind("auto"), nullptr);
  EXPECT_EQ(find_engine_kind("tpu"), nullptr);
  EXPECT_EQ(find_engine_kind("emulated"), nullptr);  // without a profile
  EXPECT_EQ(find_engine_kind("none:v100"), nullptr);
}

TEST(ProfileOfEngine, IsWhatFollowsTheKind) {
  EXPECT_EQ(profile_of_engine("emulated:v100"), "v100");
  EXPECT_EQ(profile_of_engine("emulated:a/b:c.json"), "a/b:c.json");
  EXPECT_EQ(profile_of_engine("cuda"), std::nullopt);
  EXPECT_EQ(profile_of_engine("auto"), std::nullopt);
}

TEST(Capabilities, AreThoseOfTheKindAndNoneForOtherNames) {
  EXPECT_TRUE(computes_on_gpu("cuda"));
  EXPECT_FALSE(computes_on_gpu("onednn"));
  for (const char* name : {"auto", "tpu"}) {
    EXPECT_FALSE(computes_on_gpu(name));
  }
}

TEST(Capabilities, DropBatchesWhereTheSpecHasNoEngine) {
  for (const EngineKind* const kind : engine_kinds()) {
    spec::TrialSpec spec;
    spec.engine = kind->name;
    EXPECT_EQ(kind->drops_batches, !spec::has_engine(spec)) << kind->name;
  }
}

TEST(ForecastDeviceMemory, IsEmptyForEnginesWithoutAGpuAndNeedsNone) {
  EXPECT_FALSE(forecast_device_memory("cuda", config()).empty());
  for (const char* name : {"none", "onednn", "emulated:v100"}) {
    EXPECT_TRUE(forecast_device_memory(name, config()).empty()) << name;
  }
}

spec::ModelSpec model_of(const std::string& name, int image_size = 224) {
  return {.name = name, .image_size = image_size};
}

TEST(CheckNetwork, LetsEveryNetworkTrainOnCpusAndGpusWithoutADevice) {
  for (const std::string& name : model::network_names()) {
    for (const char* engine : {"onednn", "cuda"}) EXPECT_NO_THROW(check_network(engine, model_of(name))) << name;
  }
}

TEST(CheckNetwork, RefusesImagesThatAreTooSmallButForAnEngineThatDropsThem) {
  EXPECT_THROW(check_network("onednn", model_of("alexnet", 48)), SpecError);
  EXPECT_THROW(check_network("emulated:v100", model_of("alexnet", 48)), SpecError);
  EXPECT_NO_THROW(check_network("none", model_of("alexnet", 48)));
}

}  // namespace
}  // namespace chexbench::engine
