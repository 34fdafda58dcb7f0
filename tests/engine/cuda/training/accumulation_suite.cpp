// Steps of several batches, on the host twin and, if there is one, on a GPU.
#include <gtest/gtest.h>

#include "core/param_name.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

class CudaAccumulationOf : public OnADevice, public testing::WithParamInterface<const char*> {};

// Returns the gradients of the first, a middle and the last parameter in the order of backward.
std::vector<std::vector<float>> some_gradients(const Engine& engine) {
  const std::vector<TensorInfo> infos = engine.parameters();
  return {gradient(engine, infos.front()), gradient(engine, infos[infos.size() / 2]), gradient(engine, infos.back())};
}

// Dropout is on: a batch drops the same values whether it is a whole step or a part of one. All steps after the first
// are replays.
TEST_P(CudaAccumulationOf, AveragesTheGradientsOfAStepsBatches) {
  constexpr int kBatches = 3;
  const int size = size_of(GetParam());
  EngineConfig config = config_of(GetParam());
  config.training.learning_rate = 1e-30;  // The weights do not change.
  CudaEngine apart(config);
  config.training.accumulate_steps = kBatches;
  CudaEngine together(config);
  for (int step = 1; step <= 3; ++step) {
    double loss = 0;
    std::vector<std::vector<float>> means;
    for (int i = (step - 1) * kBatches; i < step * kBatches; ++i) {
      EXPECT_EQ(together.steps_finished(), step - 1);
      together.step(batch_of(i, Deliver::u8, size), single_);
      apart.step(batch_of(i, Deliver::u8, size), single_);
      apart.finish();
      loss += apart.timings().loss / kBatches;
      const auto gradients = some_gradients(apart);
      means.resize(gradients.size());
      for (std::size_t k = 0; k < gradients.size(); ++k) {
        means[k].resize(gradients[k].size());
        for (std::size_t j = 0; j < means[k].size(); ++j) means[k][j] += gradients[k][j] / kBatches;
      }
    }
    together.finish();
    EXPECT_EQ(together.steps_finished(), step);
    EXPECT_EQ(together.timings().images, kBatches * kImages);
    EXPECT_NEAR(together.timings().loss, loss, 1e-12) << "step " << step;
    const auto gradients = some_gradients(together);
    for (std::size_t k = 0; k < gradients.size(); ++k)
      EXPECT_LT(distance(gradients[k], means[k]), 1e-6 * norm(means[k])) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaAccumulationOf, testing::Values(CHEXBENCH_TEST_NETWORKS), ParamName());

class CudaAccumulation : public OnADevice {
 protected:
  static EngineConfig config(Precision precision) {
    EngineConfig config = config_of("mobilenet_v2", precision);  // It has dropout.
    config.training.accumulate_steps = 2;
    return config;
  }
};

TEST_F(CudaAccumulation, GoesOnFromACheckpointWithTheSameBits) {
  for (const Precision precision : {Precision::f32, Precision::fp16}) {
    CudaEngine engine(config(precision)), resumed(config(precision));
    losses(engine, single_, 4);
    losses(resumed, single_, 2);
    resumed.epoch_training()->resume(source_of(state_of(engine)), engine.epoch_training()->updates());
    const std::vector<double> expected = losses(engine, single_, 4);
    EXPECT_EQ(expected.size(), 2u);
    EXPECT_EQ(losses(resumed, single_, 4), expected) << spec::to_string(precision);
    EXPECT_TRUE(state_of(resumed) == state_of(engine));
  }
}

TEST_F(CudaAccumulation, PartsOfAStepSumToItsWallTime) {
  CudaEngine engine(config(Precision::f32));
  losses(engine, single_, 6);
  const measure::StepTimings& t = engine.timings();
  EXPECT_NEAR(t.wait_s + t.upload_s + t.compute_s + t.exposed_communication_s + t.update_s + t.other_s, t.wall_s, 1e-9);
  EXPECT_GT(t.update_s, 0);
}

}  // namespace
}  // namespace chexbench::engine::cuda
