// Compares the updates with PyTorch's formulas in double, and with PyTorch's own results.
#include "engine/onednn/optimizer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/cpu_features.hpp"
#include "core/random.hpp"
#include "engine/learning_cases.hpp"
#include "engine/onednn/loss.hpp"
#include "engine/torch_update.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr std::size_t kCount = 40007;  // more than one run, and not a multiple of any vector's size

std::vector<float> random_values(std::uint64_t seed) {
  RandomStream stream(seed);
  std::vector<float> values(kCount);
  for (float& value : values) value = static_cast<float>(2.0 * stream.uniform() - 1.0);
  return values;
}

spec::TrainingSpec training_with(spec::OptimizerKind kind, double momentum = 0.9) {
  return {.optimizer = kind, .learning_rate = 0.01, .momentum = momentum};
}

class OptimizerTest : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (best_isa(cpu_features()) < GetParam()) GTEST_SKIP() << "this CPU lacks the instruction set";
  }
  static Optimizer make(spec::OptimizerKind kind) { return {training_with(kind), GetParam(), kCount}; }
  std::vector<float> weights_ = random_values(1);
  const std::vector<float> start_ = weights_;
  const std::vector<float> gradients_[2] = {random_values(2), random_values(3)};
};

TEST_P(OptimizerTest, KeepsToItsScalarTwin) {
  for (const auto& [kind, allowed] : {std::pair(spec::OptimizerKind::sgd, 1e-6), {spec::OptimizerKind::adam, 2e-6}}) {
    Optimizer optimizer = make(kind);
    weights_ = start_;
    for (const auto& gradient : gradients_) optimizer.update(weights_, gradient);
    for (std::size_t i = 0; i < kCount; ++i) {
      TorchWeight twin{.value = static_cast<double>(start_[i])};
      for (const auto& gradient : gradients_) twin.update(training_with(kind), static_cast<double>(gradient[i]));
      ASSERT_NEAR(static_cast<double>(weights_[i]), twin.value, allowed);
    }
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

constexpr std::size_t kFew = 83;

class OptimizerSteps : public testing::TestWithParam<spec::OptimizerKind> {
 protected:
  static Optimizer make(const spec::TrainingSpec& training) { return {training, Isa::baseline, kFew}; }
};

// Gradients are as small as 1e-7, where Adam's epsilon matters, and some of them are zero in most steps.
TEST_P(OptimizerSteps, KeepToTheirScalarTwin) {
  const spec::TrainingSpec training = training_with(GetParam());
  Optimizer optimizer = make(training);
  RandomStream stream(5);
  std::vector<float> weights(kFew), gradients(kFew);
  std::vector<TorchWeight> twins(kFew);
  for (std::size_t i = 0; i < kFew; ++i) twins[i].value = weights[i] = static_cast<float>(stream.uniform() - 0.5);
  const std::vector<float> start = weights;
  for (int step = 0; step < 30; ++step) {
    for (std::size_t i = 0; i < kFew; ++i) {
      const bool skipped = i % 5 == 0 && step % 7 != 0;
      const double scale = std::pow(10.0, -static_cast<double>(i % 8));
      gradients[i] = skipped ? 0.0f : static_cast<float>(scale * (2 * stream.uniform() - 0.7));
      twins[i].update(training, static_cast<double>(gradients[i]));
    }
    optimizer.update(weights, gradients);
  }
  for (std::size_t i = 0; i < kFew; ++i) {
    const double moved = std::abs(twins[i].value - static_cast<double>(start[i]));
    EXPECT_NEAR(static_cast<double>(weights[i]), twins[i].value, 3e-6 + 1e-4 * moved) << i;
  }
}

// The padding of the flat arrays must stay zero.
TEST_P(OptimizerSteps, LeaveZerosWithoutGradientsZero) {
  Optimizer optimizer = make(training_with(GetParam()));
  std::vector<float> weights(kFew, 0.0f);
  const std::vector<float> gradients(kFew, 0.0f);
  for (int step = 0; step < 3; ++step) optimizer.update(weights, gradients);
  EXPECT_EQ(weights, std::vector<float>(kFew, 0.0f));
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerSteps, testing::Values(spec::OptimizerKind::adam, spec::OptimizerKind::sgd),
                         [](const auto& instance) { return to_string(instance.param); });

TEST(Sgd, WithoutMomentumTakesEachGradientOnce) {
  Optimizer optimizer(training_with(spec::OptimizerKind::sgd, 0), Isa::baseline, 1);
  std::vector<float> weight{1};
  for (const float gradient : {1.0f, 0.0f, -3.0f}) optimizer.update(weight, std::vector<float>{gradient});
  EXPECT_FLOAT_EQ(weight[0], 1.02f);
}

// The losses, optimizers and averages of 20 steps are PyTorch's (learning_golden.hpp), to 1e-5.
class Learning : public testing::TestWithParam<LearningCase> {};

TEST_P(Learning, IsThatOfPytorchOverTwentySteps) {
  const LearningCase& golden = GetParam();
  LearningLayer layer(golden.classes);
  Optimizer optimizer(training_of(golden), Isa::baseline, kLearningWeights);
  std::vector<float> of_logits(kLearningImages * kLearningOutputs);
  for (const double loss : golden.losses) {
    const double ours = loss_of(rule_of(golden), kLearningOutputs, layer.logits(), layer.targets, of_logits);
    ASSERT_NEAR(ours, loss, 1e-5);
    optimizer.update(layer.weights, layer.gradient(of_logits));
  }
  expect_near_all(layer.weights, golden.weights, "weight");
  if (golden.ema == 0) return;
  const std::vector<float> weights = layer.weights;
  optimizer.swap_average(layer.weights);
  expect_near_all(layer.weights, golden.average, "average");
  optimizer.swap_average(layer.weights);
  EXPECT_EQ(layer.weights, weights);
}

INSTANTIATE_TEST_SUITE_P(All, Learning, testing::ValuesIn(kLearningCases));

}  // namespace
}  // namespace chexbench::engine::onednn
