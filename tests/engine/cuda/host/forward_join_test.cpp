// Compares forward passes that compute the residual join before them with the join's own pass. Scale and shift of the
// norms are then rounded to fp16, so the results differ a little more from layer to layer.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cuda/host/host_convolutions.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"

namespace chexbench::engine::cuda {
namespace {

using Patterns = std::vector<ConvPattern>;

// The engine is offered the given fused patterns.
class ForwardJoin : public testing::TestWithParam<std::pair<const char*, Patterns>> {
 protected:
  ForwardJoin() {
    for (const ConvPattern pattern : conv_patterns()) {
      if (is_fused(pattern) && std::ranges::count(GetParam().second, pattern) == 0)
        host::lacking_patterns().push_back(pattern);
    }
  }
  ~ForwardJoin() override { host::lacking_patterns().clear(); }

  // Returns an engine that has computed one batch.
  std::unique_ptr<CudaEngine> after_a_step(bool fused) {
    EngineConfig config = config_of("resnet50", spec::Precision::fp16);
    config.model.image_size = 2 * kSize;
    config.training.deterministic = false;  // which fuses nothing
    config.training.fused = fused;
    auto engine = std::make_unique<CudaEngine>(config);
    engine->step(batch_of(0, Deliver::u8, 2 * kSize), single_);
    engine->finish();
    return engine;
  }

  SingleReducer single_;
};

std::vector<float> values_of(CudaEngine& engine, const TensorInfo& buffer) {
  std::vector<float> values(static_cast<std::size_t>(buffer.count()));
  engine.read_buffer(buffer.name, values);
  return values;
}

// The statistics of each layer show whether the layers before it computed the same. The last layers see two rows.
TEST_P(ForwardJoin, GivesTheStatisticsAndTheLossThatThePassOfItsOwnGives) {
  const std::unique_ptr<CudaEngine> fused = after_a_step(true), apart = after_a_step(false);
  EXPECT_NE(fused->timings().loss, apart->timings().loss) << "both took the same way";
  EXPECT_NEAR(fused->timings().loss, apart->timings().loss, 5e-3);
  for (const TensorInfo& buffer : fused->buffers()) {
    const std::vector<float> expected = values_of(*apart, buffer);
    EXPECT_LT(distance(values_of(*fused, buffer), expected), 5e-2 * norm(expected)) << buffer.name;
  }
  const TensorInfo last = fused->parameters().front();
  EXPECT_LT(distance(gradient(*fused, last), gradient(*apart, last)), 0.1 * norm(gradient(*apart, last)));
}

// Where backward reads residuals, norms whose results they are must write them, although forward could leave them out.
INSTANTIATE_TEST_SUITE_P(Patterns, ForwardJoin,
                         testing::Values(std::pair{"of_norms", Patterns{ConvPattern::joined_norms_forward_statistics}},
                                         std::pair{"and_backward_that_reads_residuals",
                                                   Patterns{ConvPattern::joined_forward_statistics,
                                                            ConvPattern::joined_norms_forward_statistics,
                                                            ConvPattern::data_gradient_join}}),
                         [](const auto& one) { return one.param.first; });

}  // namespace
}  // namespace chexbench::engine::cuda
