#include "engine/registry.hpp"

#include <gtest/gtest.h>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {
namespace {

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

}  // namespace
}  // namespace chexbench::engine
