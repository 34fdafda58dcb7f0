// Compares steps whose norms take in the pool after them with steps where both are apart. Forward gives the same bits.
// In backward only the sums of those norms are added in another order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"

namespace chexbench::engine::cuda {
namespace {

class PooledNorms : public testing::TestWithParam<const char*> {
 protected:
  // Runs a step of a new engine, in fp16 with a loss scale that no gradient overflows.
  std::unique_ptr<CudaEngine> step(const EngineConfig& config) {
    auto engine = std::make_unique<CudaEngine>(config);
    Tensors state = state_of(*engine);
    if (state.contains("grad_scaler")) state["grad_scaler"].front() = 16;
    engine->epoch_training()->resume(source_of(state), 1);
    engine->step(batch_of(0), single_);
    engine->finish();
    return engine;
  }
  static std::vector<float> evaluated(CudaEngine& engine) {
    std::vector<float> logits(static_cast<std::size_t>(kImages) * kNihLabels);
    engine.epoch_training()->evaluate(batch_of(1), logits);
    return logits;
  }

  SingleReducer single_;
};

TEST_P(PooledNorms, GiveTheSameStepAndEvaluationAsNormsAndPoolsApart) {
  for (const auto& [precision, tolerance] : {std::pair{spec::Precision::f32, 1e-5}, {spec::Precision::fp16, 1e-2}}) {
    EngineConfig config = config_of(GetParam(), precision);  // deterministic, so no convolution fuses anything
    config.training.learning_rate = 1e-30;
    const auto fused = step(config);
    config.training.fused = false;
    const auto apart = step(config);
    ASSERT_EQ(fused->timings().loss, apart->timings().loss);
    EXPECT_EQ(evaluated(*fused), evaluated(*apart));
    double most = 0;
    for (const TensorInfo& parameter : fused->parameters()) {
      // Only norms read the channels of this one, and undo its scale and shift: its gradients are rounding errors.
      if (parameter.name.starts_with("features.norm0.")) continue;
      const std::vector<float> expected = gradient(*apart, parameter);
      const double relative = distance(gradient(*fused, parameter), expected) / norm(expected);
      EXPECT_LT(relative, tolerance) << parameter.name << " in " << spec::to_string(precision);
      most = std::max(most, relative);
    }
    EXPECT_GT(most, 0) << "both took the same way";
  }
}

TEST(PooledNormLaunches, RefuseOtherPools) {
  kernels::NormPoolCall call{.pool = {.images = 1, .channels = 8, .shape = {8, 8, 4, 4, 2, 2, 0}}};
  EXPECT_THROW(kernels::launch_norm_max_pool(call, nullptr, nullptr), DeviceError);
  call.pool.shape = {8, 8, 4, 4, 3, 2, 1};
  EXPECT_THROW(kernels::launch_norm_average_pool(call, nullptr), DeviceError);
  const kernels::NormGradientCall gradient{.rows = 64, .channels = 8};
  const kernels::PoolBetween average{.images = 1, .shape = call.pool.shape};
  EXPECT_THROW(kernels::launch_pooled_gradient_sums(gradient, average, {}, nullptr), DeviceError);
  EXPECT_THROW(kernels::launch_pooled_gradient_apply(gradient, average, nullptr, nullptr, {}, nullptr), DeviceError);
  std::uint8_t winner = 0;
  const kernels::PoolBetween max{.images = 1, .shape = call.pool.shape, .winner = &winner};
  EXPECT_THROW(kernels::launch_pooled_lazy_accumulate(gradient, max, {}, {}, nullptr), DeviceError);
}

INSTANTIATE_TEST_SUITE_P(Networks, PooledNorms, testing::Values("resnet50", "densenet121", "googlenet"), ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
