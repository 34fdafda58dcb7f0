// Compares data gradients that include the preceding norm or residual join with the separate passes. Forward is the
// same bit by bit, so only backward differs, where rounding does not grow from layer to layer as it does through batch
// norms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/cuda/host/host_convolutions.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"

namespace chexbench::engine::cuda {
namespace {

using Patterns = std::vector<ConvPattern>;

constexpr ConvPattern kForwardPatterns[]{ConvPattern::forward_statistics, ConvPattern::normalized_forward_statistics,
                                         ConvPattern::joined_forward_statistics,
                                         ConvPattern::joined_norms_forward_statistics};
constexpr ConvPattern kBackwardPatterns[]{ConvPattern::data_gradient_norm, ConvPattern::data_gradient_join,
                                          ConvPattern::data_gradient_join_norms};

// The engine is offered the given ones of kBackwardPatterns.
class NormBeforeADataGradient : public testing::TestWithParam<std::pair<const char*, Patterns>> {
 protected:
  NormBeforeADataGradient() {
    host::lacking_patterns() = {std::begin(kForwardPatterns), std::end(kForwardPatterns)};
    for (const ConvPattern pattern : kBackwardPatterns) {
      if (std::ranges::count(GetParam().second, pattern) == 0) host::lacking_patterns().push_back(pattern);
    }
  }
  ~NormBeforeADataGradient() override { host::lacking_patterns().clear(); }

  void run_step(CudaEngine& engine) {
    engine.step(batch_of(0, Deliver::u8, 2 * kSize), single_);
    engine.finish();
  }

  SingleReducer single_;
};

TEST_P(NormBeforeADataGradient, GivesAllGradientsThatThePassOfItsOwnGives) {
  EngineConfig config = config_of("resnet50", spec::Precision::fp16);
  config.model.image_size = 2 * kSize;
  config.training.deterministic = false;  // which fuses nothing
  CudaEngine fused(config);
  config.training.fused = false;
  CudaEngine apart(config);
  run_step(fused);
  run_step(apart);
  ASSERT_EQ(fused.timings().loss, apart.timings().loss);
  double most = 0;
  int overflows = 0;
  for (const TensorInfo& parameter : fused.parameters()) {
    const std::vector<float> expected = gradient(apart, parameter);
    if (!std::isfinite(norm(expected))) {  // The first loss scale is too large for fp16 in the first convolutions.
      ++overflows;
      continue;
    }
    const double relative = distance(gradient(fused, parameter), expected) / norm(expected);
    EXPECT_LT(relative, 2e-2) << parameter.name;
    most = std::max(most, relative);
  }
  EXPECT_LE(overflows, 2);
  EXPECT_GT(most, 0) << "both took the same way";
}

INSTANTIATE_TEST_SUITE_P(Patterns, NormBeforeADataGradient,
                         testing::Values(std::pair{"norm", Patterns{ConvPattern::data_gradient_norm}},
                                         std::pair{"join", Patterns{ConvPattern::data_gradient_join}},
                                         std::pair{"all", Patterns{std::begin(kBackwardPatterns),
                                                                   std::end(kBackwardPatterns)}}),
                         [](const auto& one) { return one.param.first; });

}  // namespace
}  // namespace chexbench::engine::cuda
