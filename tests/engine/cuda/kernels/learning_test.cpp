// Compares losses, updates, clipping and averages over 20 steps with PyTorch's (learning_golden.hpp), to 1e-5.
#include "engine/learning_cases.hpp"

#include "emulation.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/loss.hpp"
#include "engine/cuda/kernels/optimizer.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr int kImages = kLearningImages, kOutputs = kLearningOutputs, kLd = 8;

// Computes the loss of logits as the last layer leaves them: without the bias, in padded rows.
class LossOfLayer {
 public:
  explicit LossOfLayer(const LearningCase& learning) : rule_(rule_of(learning)) {}

  // Returns the loss, and writes the gradient of the logits.
  float run(const std::vector<float>& logits, const std::vector<float>& targets, std::vector<float>& gradient) {
    for (int i = 0; i < kImages * kOutputs; ++i)
      padded_[static_cast<std::size_t>(i / kOutputs * kLd + i % kOutputs)] = logits[static_cast<std::size_t>(i)];
    rule_.task == spec::Task::classes ? softmax(targets) : sigmoid(targets);
    for (int i = 0; i < kImages * kOutputs; ++i)
      gradient[static_cast<std::size_t>(i)] = gradient_[static_cast<std::size_t>(i / kOutputs * kLd + i % kOutputs)];
    return loss_;
  }

 private:
  const float* weights() const { return rule_.weights.empty() ? nullptr : rule_.weights.data(); }

  void sigmoid(const std::vector<float>& targets) {
    run_reduction(Loss<float>{.logits = padded_.data(),
                              .bias = bias_.data(),
                              .targets = targets.data(),
                              .biased = biased_.data(),
                              .gradient = gradient_.data(),
                              .scale = &scale_,
                              .loss = &loss_,
                              .batch = kImages,
                              .outputs = kOutputs,
                              .ld = kLd,
                              .smoothing = static_cast<float>(rule_.smoothing),
                              .weights = weights()},
                  1);
  }
  void softmax(const std::vector<float>& targets) {
    const ClassRule rule{kOutputs, static_cast<float>(rule_.smoothing), weights()};
    run_reduction(
        SoftmaxRows<float>{padded_.data(), bias_.data(), targets.data(), biased_.data(), rows_.data(), kLd, rule},
        kImages);
    run_reduction(SoftmaxTotal{rows_.data(), kImages, &loss_, &mass_}, 1);
    run_calls(SoftmaxGradient<float>{biased_.data(), targets.data(), rows_.data(), &mass_, &scale_, gradient_.data(),
                                     kLd, rule},
              std::int64_t{kImages} * kLd);
  }

  const LossRule rule_;
  std::vector<float> padded_ = std::vector<float>(kImages * kLd, std::nanf("")), gradient_ = padded_;
  std::vector<float> bias_ = std::vector<float>(kOutputs, 0.0f), biased_ = std::vector<float>(kImages * kOutputs);
  std::vector<SoftmaxRow> rows_ = std::vector<SoftmaxRow>(kImages);
  float scale_ = 1, loss_ = 0, mass_ = 0;
};

// The end of a step, in the order of training/update.cpp.
struct UpdateOfLayer {
  spec::TrainingSpec training;
  StepScalars scalars;
  StepRules rules;
  std::vector<float> first = std::vector<float>(kLearningWeights), second = first, average = first;
  std::vector<double> partials = std::vector<double>(kNormBlocks);

  explicit UpdateOfLayer(const LearningCase& learning) : training(training_of(learning)) {
    scalars.loss_scale = 1;
    scalars.learning_rate = static_cast<float>(training.learning_rate);
    rules.clip_norm = static_cast<float>(learning.clip);
  }
  void run(const std::vector<float>& gradient, std::vector<float>& weights) {
    constexpr auto kCount = static_cast<std::int64_t>(kLearningWeights);
    run_reduction(GradientSquares<float>{gradient.data(), kCount, partials.data()}, kNormBlocks);
    run_reduction(GradientNorm{partials.data(), kNormBlocks, &scalars}, 1);
    decide(scalars, rules);
    const bool decoupled = training.optimizer == spec::OptimizerKind::adamw;
    const auto decay = static_cast<float>(training.weight_decay);
    Update<float, float> update;
    update.scalars = &scalars;
    update.gradient = gradient.data();
    update.first = first.data();
    update.second = second.data();
    update.weight = weights.data();
    update.beta1 = rules.beta1;
    update.beta2 = rules.beta2;
    update.epsilon = 1e-8f;
    update.momentum = static_cast<float>(training.momentum);
    update.l2 = decoupled ? 0.0f : decay;
    update.decay = decoupled ? decay : 0.0f;
    update.is_adam = spec::is_adam(training.optimizer);
    update.count = kCount;
    run_calls(update, Update<float, float>::calls(kCount));
    run_calls(MovingAverage{&scalars, weights.data(), average.data(), 1.0f - static_cast<float>(training.ema_decay)},
              kCount);
  }
};

class Learning : public testing::TestWithParam<LearningCase> {};

TEST_P(Learning, IsThatOfPytorchOverTwentySteps) {
  const LearningCase& golden = GetParam();
  LearningLayer layer(golden.classes);
  LossOfLayer loss_of(golden);
  UpdateOfLayer update(golden);
  std::vector<float> of_logits(kLearningImages * kLearningOutputs);
  for (const double loss : golden.losses) {
    ASSERT_NEAR(static_cast<double>(loss_of.run(layer.logits(), layer.targets, of_logits)), loss, 1e-5);
    update.run(layer.gradient(of_logits), layer.weights);
  }
  expect_near_all(layer.weights, golden.weights, "weight");
  if (golden.ema == 0) return;
  const std::vector<float> weights = layer.weights;
  run_calls(SwapAverage{layer.weights.data(), update.average.data()}, static_cast<std::int64_t>(kLearningWeights));
  expect_near_all(layer.weights, golden.average, "average");
  EXPECT_EQ(update.average, weights);
}

INSTANTIATE_TEST_SUITE_P(All, Learning, testing::ValuesIn(kLearningCases));

// More images and classes than threads, in each type, against the formula in double.
template <typename T>
class SoftmaxOf : public testing::Test {};
using Types = testing::Types<float, Half, BFloat16>;
TYPED_TEST_SUITE(SoftmaxOf, Types);

TYPED_TEST(SoftmaxOf, ManyClassesIsTheFormulaAndLeavesThePaddingOut) {
  constexpr int kRows = 300, kClasses = 131, kStride = 136;
  Tensor<TypeParam> logits(kRows, kStride), gradient(kRows, kStride);
  logits.randomize(1, 0, 4);
  const std::vector<float> bias = random_values(kClasses, 2, -1, 1);
  std::vector<float> targets(std::size_t{kRows} * kClasses), biased(targets.size());
  for (int row = 0; row < kRows; ++row) targets[static_cast<std::size_t>(row * kClasses + row % kClasses)] = 1;
  std::vector<SoftmaxRow> rows(kRows);
  float loss = 0, mass = 0;
  const float scale = 64;
  const ClassRule rule{.outputs = kClasses};
  run_reduction(SoftmaxRows<TypeParam>{logits.view().data, bias.data(), targets.data(), biased.data(), rows.data(),
                                       kStride, rule},
                kRows);
  run_reduction(SoftmaxTotal{rows.data(), kRows, &loss, &mass}, 1);
  run_calls(SoftmaxGradient<TypeParam>{biased.data(), targets.data(), rows.data(), &mass, &scale, gradient.view().data,
                                       kStride, rule},
            std::int64_t{kRows} * kStride);
  double exact = 0;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    const auto logit = [&](int c) { return logits(row, c) + static_cast<double>(bias[static_cast<std::size_t>(c)]); };
    for (int c = 0; c < kClasses; ++c) sum += std::exp(logit(c));
    exact += (std::log(sum) - logit(row % kClasses)) / kRows;
    for (int c = 0; c < kStride; ++c) {
      const double target = c == row % kClasses ? 1 : 0;
      const double slope = c < kClasses ? (std::exp(logit(c)) / sum - target) * static_cast<double>(scale) / kRows : 0;
      ASSERT_NEAR(gradient(row, c), slope, tolerance<TypeParam>() * (0.01 + std::abs(slope))) << row << ' ' << c;
    }
  }
  EXPECT_NEAR(static_cast<double>(loss), exact, 1e-5 * exact);
  EXPECT_EQ(mass, kRows);
}

TEST(Softmax, StaysFiniteForHugeLogitsAndShowsNan) {
  for (const float bad : {0.0f, std::nanf("")}) {
    const std::vector<float> logits{1e4f, -1e4f + bad, 0}, bias(3, 0.0f), targets{1, 0, 0};
    std::vector<float> biased(3);
    SoftmaxRow row;
    run_reduction(
        SoftmaxRows<float>{logits.data(), bias.data(), targets.data(), biased.data(), &row, 3, {.outputs = 3}}, 1);
    if (bad == 0) {
      EXPECT_EQ(row.loss, 0);
    } else {
      EXPECT_TRUE(std::isnan(row.loss));
    }
  }
}

TYPED_TEST(SoftmaxOf, TheNormOfGradientsIsThatOfAllOfThem) {
  for (const int count : {1, 7, 8, 4097, 300'001}) {
    Tensor<TypeParam> gradient(1, count);
    gradient.randomize(3, 0, 2);
    double exact = 0;
    for (int i = 0; i < count; ++i) exact += gradient(0, i) * gradient(0, i);
    std::vector<double> partials(kNormBlocks);
    StepScalars scalars;
    run_reduction(GradientSquares<TypeParam>{gradient.view().data, count, partials.data()}, kNormBlocks);
    run_reduction(GradientNorm{partials.data(), kNormBlocks, &scalars}, 1);
    EXPECT_NEAR(scalars.gradient_squares, exact, 1e-9 * exact) << count;
  }
}

TEST(Clipping, LeavesGradientsBelowTheLimitAsTheyAre) {
  EXPECT_EQ(clipping(4.0, 1.0f, 2.5f), 1.0f);
  EXPECT_NEAR(clipping(4.0, 1.0f, 1.0f), 0.5f, 1e-6f);
  EXPECT_NEAR(clipping(4.0, 0.25f, 0.25f), 0.5f, 2e-6f);  // The loss scale is taken off first.
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
