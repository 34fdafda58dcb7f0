// The contract of engine.hpp, tested for the GPU engine on the host twin and, if there is one, on a GPU.
#include "engine/contract.hpp"
#include "engine/cuda/training/engine_fixture.hpp"

namespace chexbench::engine {
namespace {

std::vector<EngineUnderTest> engines() {
  if (!cuda::device_problem().empty()) return {};
  return {{"cuda", [](const EngineConfig& config) { return std::make_unique<cuda::CudaEngine>(config); }}};
}

INSTANTIATE_TEST_SUITE_P(Cuda, EngineContract, testing::ValuesIn(engines()), name_of_engine);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineContract);

}  // namespace
}  // namespace chexbench::engine
