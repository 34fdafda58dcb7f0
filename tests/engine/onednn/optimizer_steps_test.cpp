// Compares many steps of the optimizers with a scalar implementation, and checks properties for any gradients.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.hpp"
#include "engine/onednn/optimizer.hpp"
#include "engine/torch_update.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr std::size_t kCount = 83;

spec::TrainingSpec training_with(spec::OptimizerKind kind, double momentum = 0.9) {
  return {.optimizer = kind, .learning_rate = 0.01, .momentum = momentum};
}

class OptimizerSteps : public testing::TestWithParam<spec::OptimizerKind> {
 protected:
  static Optimizer make(const spec::TrainingSpec& training) { return {training, Isa::baseline, kCount}; }
};

// Gradients are as small as 1e-7, where Adam's epsilon matters, and some of them are zero in most steps.
TEST_P(OptimizerSteps, KeepToTheirScalarTwin) {
  const spec::TrainingSpec training = training_with(GetParam());
  Optimizer optimizer = make(training);
  RandomStream stream(5);
  std::vector<float> weights(kCount), gradients(kCount);
  std::vector<TorchWeight> twins(kCount);
  for (std::size_t i = 0; i < kCount; ++i) twins[i].value = weights[i] = static_cast<float>(stream.uniform() - 0.5);
  const std::vector<float> start = weights;
  for (int step = 0; step < 30; ++step) {
    for (std::size_t i = 0; i < kCount; ++i) {
      const bool skipped = i % 5 == 0 && step % 7 != 0;
      const double scale = std::pow(10.0, -static_cast<double>(i % 8));
      gradients[i] = skipped ? 0.0f : static_cast<float>(scale * (2 * stream.uniform() - 0.7));
      twins[i].update(training, static_cast<double>(gradients[i]));
    }
    optimizer.update(weights, gradients);
  }
  for (std::size_t i = 0; i < kCount; ++i) {
    const double moved = std::abs(twins[i].value - static_cast<double>(start[i]));
    EXPECT_NEAR(static_cast<double>(weights[i]), twins[i].value, 3e-6 + 1e-4 * moved) << i;
  }
}

// The padding of the flat arrays must stay zero.
TEST_P(OptimizerSteps, LeaveZerosWithoutGradientsZero) {
  Optimizer optimizer = make(training_with(GetParam()));
  std::vector<float> weights(kCount, 0.0f);
  const std::vector<float> gradients(kCount, 0.0f);
  for (int step = 0; step < 3; ++step) optimizer.update(weights, gradients);
  EXPECT_EQ(weights, std::vector<float>(kCount, 0.0f));
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerSteps, testing::Values(spec::OptimizerKind::adam, spec::OptimizerKind::sgd),
                         [](const auto& instance) { return to_string(instance.param); });

TEST(Sgd, WithoutMomentumTakesEachGradientOnce) {
  Optimizer optimizer(training_with(spec::OptimizerKind::sgd, 0), Isa::baseline, 1);
  std::vector<float> weight{1};
  for (const float gradient : {1.0f, 0.0f, -3.0f}) optimizer.update(weight, std::vector<float>{gradient});
  EXPECT_FLOAT_EQ(weight[0], 1.02f);
}

TEST(Adam, MovesByTheLearningRateWhateverTheGradientsScale) {
  Optimizer optimizer(training_with(spec::OptimizerKind::adam), Isa::baseline, 3);
  std::vector<float> weights(3, 0.0f);
  for (int step = 0; step < 5; ++step) optimizer.update(weights, std::vector<float>{1e3f, -1.0f, 1e-3f});
  EXPECT_NEAR(weights[0], -0.05, 1e-6);
  EXPECT_NEAR(weights[1], 0.05, 1e-6);
  EXPECT_NEAR(weights[2], -0.05, 2e-6);
}

}  // namespace
}  // namespace chexbench::engine::onednn
