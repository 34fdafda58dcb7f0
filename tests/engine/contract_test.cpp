// The contract of engine.hpp, asked of each kind that this build can make without a GPU. The suites of engine/cuda ask
// it of the GPU engine, on a device and on its twin on the host.
#include "engine/contract.hpp"
#include "engine/emulated_fixture.hpp"
#include "engine/registry.hpp"

namespace chexbench::engine {
namespace {

std::vector<EngineUnderTest> engines() {
  const auto profile = std::make_shared<ProfileFile>(
      R"("images_per_s": 2000, "includes_update": true, "includes_communication": false)", "mobilenet_v2");
  std::vector<EngineUnderTest> engines;
  for (const EngineKind* kind : engine_kinds()) {
    if (kind->computes_on_gpu || !kind->usable()) continue;
    const auto make = [kind, profile](const EngineConfig& config) {
      return kind->make(kind->takes_profile ? profile->path() : "", config);
    };
    engines.push_back({std::string(kind->name), make, kind->trains, kind->drops_batches});
  }
  return engines;
}

INSTANTIATE_TEST_SUITE_P(Kinds, EngineContract, testing::ValuesIn(engines()), name_of_engine);

}  // namespace
}  // namespace chexbench::engine
