// Compares the updates with PyTorch's formulas in double.
#include "engine/onednn/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/random.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr std::size_t kCount = 40007;  // more than one run, and not a multiple of any vector's size

std::vector<float> random_values(std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<float> values(kCount);
  for (float& value : values) value = static_cast<float>(2.0 * stream.uniform() - 1.0);
  return values;
}

class OptimizerTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (best_isa(cpu_features()) < GetParam()) GTEST_SKIP() << "this CPU lacks the instruction set";
  }
  Optimizer make(spec::OptimizerKind kind) const {
    spec::TrainingSpec training;
    training.optimizer = kind;
    training.learning_rate = 0.01;
    training.momentum = 0.9;
    return {training, GetParam(), kCount};
  }
  std::vector<float> weights_ = random_values(1);
  const std::vector<float> start_ = weights_;
  const std::vector<float> gradients_[2] = {random_values(2), random_values(3)};
};

TEST_P(OptimizerTest, SgdAddsUpVelocity) {
  Optimizer optimizer = make(spec::OptimizerKind::sgd);
  for (const auto& gradient : gradients_) optimizer.update(weights_, gradient);
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto g0 = static_cast<double>(gradients_[0][i]), g1 = static_cast<double>(gradients_[1][i]);
    ASSERT_NEAR(static_cast<double>(weights_[i]), static_cast<double>(start_[i]) - 0.01 * g0 - 0.01 * (0.9 * g0 + g1),
                1e-6);
  }
}

TEST_P(OptimizerTest, AdamCorrectsTheBiasOfItsMoments) {
  Optimizer optimizer = make(spec::OptimizerKind::adam);
  for (const auto& gradient : gradients_) optimizer.update(weights_, gradient);
  for (std::size_t i = 0; i < kCount; ++i) {
    double first = 0, second = 0, weight = static_cast<double>(start_[i]);
    for (int step = 1; step <= 2; ++step) {
      const auto g = static_cast<double>(gradients_[step - 1][i]);
      first = 0.9 * first + 0.1 * g;
      second = 0.999 * second + 0.001 * g * g;
      weight -= 0.01 * (first / (1 - std::pow(0.9, step))) / (std::sqrt(second / (1 - std::pow(0.999, step))) + 1e-8);
    }
    ASSERT_NEAR(static_cast<double>(weights_[i]), weight, 2e-6);
  }
}

// Like torch.nn.utils.clip_grad_norm_, which raises an error only on request.
TEST_P(OptimizerTest, AGradientThatIsNoNumberShowsInAllClippedWeights) {
  spec::TrainingSpec training;
  training.optimizer = spec::OptimizerKind::sgd;
  training.clip_gradient_norm = 1;
  Optimizer optimizer(training, GetParam(), kCount);
  std::vector<float> gradients = gradients_[0];
  gradients[kCount / 2] = std::numeric_limits<float>::quiet_NaN();
  optimizer.update(weights_, gradients);
  EXPECT_TRUE(std::ranges::all_of(weights_, [](float weight) { return std::isnan(weight); }));
}

TEST_P(OptimizerTest, RestartForgetsTheMoments) {
  for (const auto kind : {spec::OptimizerKind::adam, spec::OptimizerKind::sgd}) {
    Optimizer optimizer = make(kind);
    weights_ = start_;
    optimizer.update(weights_, gradients_[0]);
    const auto once = weights_;
    optimizer.update(weights_, gradients_[1]);
    optimizer.restart();
    weights_ = start_;
    optimizer.update(weights_, gradients_[0]);
    EXPECT_EQ(weights_, once);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerTest, testing::Values(Isa::baseline, Isa::avx2, Isa::avx512));

}  // namespace
}  // namespace chexbench::engine::onednn
