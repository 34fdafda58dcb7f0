// Compares losses, optimizers and averages over 20 steps with PyTorch's (learning_golden.hpp), to 1e-5.
#include "engine/learning_cases.hpp"

#include "engine/onednn/loss.hpp"
#include "engine/onednn/optimizer.hpp"

namespace chexbench::engine::onednn {
namespace {

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
