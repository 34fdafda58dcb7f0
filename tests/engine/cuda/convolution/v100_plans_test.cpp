// Asks the cuDNN of the V100 build, without a device, for every plan that the engine would build there.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/cuda/convolution/device_file.hpp"
#include "engine/cuda/program/lowering.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;
using Case = std::tuple<std::string, int, Precision>;

class EveryPlainPlan : public testing::TestWithParam<Case> {};

// A V100 has f32 and fp16; cuDNN offers it no plans with statistics or a norm.
TEST_P(EveryPlainPlan, ExistsForAV100) {
  const auto& [network, images, precision] = GetParam();
  const model::Graph graph = model::make_network(network, 224);
  const PlanTarget target = described_device("v100");
  for (const ConvShape& shape : conv_shapes(graph, lower(graph), images)) {
    for (const ConvPattern pattern : conv_patterns()) {
      if (is_fused(pattern) || !wanted(pattern, shape, precision)) continue;
      const Plan plan = first_plan({target, {.pattern = pattern, .shape = shape, .precision = precision}});
      // cuDNN loads most depthwise convolutions at run time, which needs a driver.
      const bool is_there =
          plan.state == PlanState::ready || (shape.groups > 1 && plan.state == PlanState::needs_driver);
      EXPECT_TRUE(is_there) << to_string(pattern) << " of " << shape.text() << ": " << plan.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryPlainPlan,
                         testing::Combine(testing::Values("resnet50", "densenet121", "mobilenet_v2", "alexnet",
                                                          "googlenet"),
                                          testing::Values(64, 256), testing::Values(Precision::f32, Precision::fp16)));

}  // namespace
}  // namespace chexbench::engine::cuda
