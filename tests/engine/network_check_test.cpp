#include "engine/network_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {
namespace {

using testing::HasSubstr;

spec::ModelSpec of(const std::string& name, int image_size = 224) { return {.name = name, .image_size = image_size}; }

TEST(CheckNetwork, LetsEveryNetworkTrainOnCpusAndGpusWithoutADevice) {
  for (const std::string& name : model::network_names()) {
    for (const char* engine : {"onednn", "cuda"}) EXPECT_NO_THROW(check_network(engine, of(name))) << name;
  }
}

TEST(CheckNetwork, RefusesImagesThatAreTooSmallButForAnEngineThatDropsThem) {
  EXPECT_THROW(check_network("onednn", of("alexnet", 48)), SpecError);
  EXPECT_THROW(check_network("emulated:v100", of("alexnet", 48)), SpecError);
  EXPECT_NO_THROW(check_network("none", of("alexnet", 48)));
}

TEST(CheckTraining, NamesTheEngineThatUpdatesAfterEachBatch) {
  const auto message = [](const spec::TrainingSpec& training) {
    try {
      check_training("cuda", training);
    } catch (const SpecError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({.accumulate_steps = 4}),
              HasSubstr("training.accumulate_steps is 4, but engine cuda updates after each batch"));
  EXPECT_EQ(message({}), "accepted");
  for (const char* engine : {"onednn", "none", "emulated:v100"}) {
    EXPECT_NO_THROW(check_training(engine, {.accumulate_steps = 4})) << engine;
  }
  for (const char* engine : {"onednn", "cuda"}) EXPECT_NO_THROW(check_training(engine, {.epochs = 1})) << engine;
}

}  // namespace
}  // namespace chexbench::engine
