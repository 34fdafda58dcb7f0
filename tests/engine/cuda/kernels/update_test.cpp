// Compares the end of a step (overflow, loss scale, Adam, SGD) with PyTorch's formulas in double.
#include <cmath>
#include <limits>

#include "emulation.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/optimizer.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kRate = 1e-2, kMomentum = 0.9;

template <typename Gradient, typename Copy>
struct Types {
  using G = Gradient;
  using C = Copy;
};

template <typename M>
class UpdateOf : public testing::Test {};
using AllTypes = testing::Types<Types<float, float>, Types<float, Half>, Types<float, BFloat16>, Types<Half, Half>,
                                Types<BFloat16, BFloat16>>;
TYPED_TEST_SUITE(UpdateOf, AllTypes);

// All arrays of an optimizer, each one element longer than the update may write.
template <typename G, typename C>
struct Weights {
  int count;
  std::vector<float> weight, first, second;
  std::vector<C> copy;
  std::vector<double> exact_weight, exact_first, exact_second;
  StepScalars scalars;
  StepRules rules{.dynamic_scale = true, .gradient_factor = 0.5f};

  explicit Weights(int n)
      : count(n),
        weight(random_values(n + 1, 1, -1, 1)),
        first(weight.size(), 0.0f),
        second(first),
        copy(weight.size(), Element<C>::narrow(kGuard)),
        exact_weight(weight.begin(), weight.end()),
        exact_first(weight.size()),
        exact_second(weight.size()) {
    scalars.loss_scale = 256;
    scalars.learning_rate = static_cast<float>(kRate);
  }

  Tensor<G> gradients(unsigned seed) const {
    Tensor<G> g(1, count + 1);
    g.randomize(seed, 0, 20);
    return g;
  }
  void step(bool is_adam, Tensor<G>& g) {
    decide(scalars, rules);
    Update<G, C> update;
    update.scalars = &scalars;
    update.gradient = g.view().data;
    update.first = first.data();
    update.second = second.data();
    update.weight = weight.data();
    update.copy = copy.data();
    update.beta1 = rules.beta1;
    update.beta2 = rules.beta2;
    update.epsilon = 1e-8f;
    update.momentum = static_cast<float>(kMomentum);
    update.is_adam = is_adam;
    update.count = count;
    run_calls(update, Update<G, C>::calls(count));
  }
  void exact_step(bool is_adam, int step, const Tensor<G>& gradients) {
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double g = gradients(0, k) / 512;  // The loss scale, and two ranks.
      if (is_adam) {
        exact_first[i] = 0.9 * exact_first[i] + 0.1 * g;
        exact_second[i] = 0.999 * exact_second[i] + 0.001 * g * g;
        const double mean = exact_first[i] / (1 - std::pow(0.9, step));
        exact_weight[i] -= kRate * mean / (std::sqrt(exact_second[i] / (1 - std::pow(0.999, step))) + 1e-8);
      } else {
        exact_first[i] = kMomentum * exact_first[i] + g;
        exact_weight[i] -= kRate * exact_first[i];
      }
    }
  }
  void expect_exact() const {
    for (int k = 0; k < count; ++k) {
      const auto i = static_cast<std::size_t>(k);
      ASSERT_NEAR(static_cast<double>(weight[i]), exact_weight[i], 3e-6) << k;
      ASSERT_EQ(Element<C>::widen(copy[i]), Element<C>::widen(Element<C>::narrow(weight[i])));
    }
    const auto behind = static_cast<std::size_t>(count);
    EXPECT_EQ(static_cast<double>(weight[behind]), exact_weight[behind]);
    EXPECT_EQ(first[behind], 0);
    EXPECT_EQ(Element<C>::widen(copy[behind]), kGuard);
  }
};

TYPED_TEST(UpdateOf, AdamAndSgdAreThoseOfPytorch) {
  for (bool is_adam : {true, false}) {
    for (int count : {1, 3, 4, 5, 1026}) {
      Weights<typename TypeParam::G, typename TypeParam::C> weights(count);
      for (int step = 1; step <= 10; ++step) {
        auto g = weights.gradients(static_cast<unsigned>(step));
        weights.step(is_adam, g);
        weights.exact_step(is_adam, step, g);
        weights.expect_exact();
      }
    }
  }
}

TYPED_TEST(UpdateOf, OverflowSkipsTheStepWholly) {
  Weights<typename TypeParam::G, typename TypeParam::C> weights(37), twin(37);
  auto g = weights.gradients(1);
  weights.step(true, g);
  const auto weight = weights.weight, first = weights.first, second = weights.second;
  weights.scalars.overflow = 1;
  weights.step(true, g);
  EXPECT_EQ(weights.weight, weight);
  EXPECT_EQ(weights.first, first);
  EXPECT_EQ(weights.second, second);
  EXPECT_EQ(weights.scalars.step, 1);
  EXPECT_EQ(weights.scalars.skipped, 1);
  // The next step counts as the second, at half the scale, as if the skipped one had not happened.
  auto halved = weights.gradients(2);
  weights.step(true, halved);
  auto whole = twin.gradients(1);
  twin.step(true, whole);
  twin.scalars.loss_scale = 128;
  twin.step(true, halved);
  EXPECT_EQ(weights.weight, twin.weight);
}

TYPED_TEST(UpdateOf, CopiesOfWeightsThatWereLoadedAreRounded) {
  using C = typename TypeParam::C;
  const std::vector<float> weights = random_values(38, 1, -1, 1);
  std::vector<C> copy(weights.size(), Element<C>::narrow(kGuard));
  run_calls(CopyWeights<C>{weights.data(), copy.data()}, 37);
  for (std::size_t i = 0; i < 37; ++i)
    EXPECT_EQ(Element<C>::widen(copy[i]), Element<C>::widen(Element<C>::narrow(weights[i])));
  EXPECT_EQ(Element<C>::widen(copy[37]), kGuard);
}

TYPED_TEST(UpdateOf, GradientsOfSeveralBatchesBecomeTheirMean) {
  using G = typename TypeParam::G;
  constexpr int kCount = 37, kBatches = 3;
  std::vector<float> sum(kCount, std::nanf(""));
  std::vector<double> exact(kCount, 0.0);
  Tensor<G> gradient(1, kCount);
  for (int batch = 0; batch < kBatches; ++batch) {
    gradient.randomize(static_cast<unsigned>(batch), 0, 20);
    for (int i = 0; i < kCount; ++i) exact[static_cast<std::size_t>(i)] += gradient(0, i) / kBatches;
    if (batch + 1 < kBatches) run_calls(AddToSum<G>{gradient.view().data, sum.data(), batch == 0}, kCount);
  }
  run_calls(TakeMean<G>{gradient.view().data, sum.data(), 1.0f / kBatches}, kCount);
  for (int i = 0; i < kCount; ++i)
    EXPECT_NEAR(gradient(0, i), exact[static_cast<std::size_t>(i)], 20 * tolerance<G>()) << i;
}

TEST(UpdateWithoutCopy, WritesTheMasterAlone) {
  StepScalars scalars;
  scalars.loss_scale = 1;
  scalars.learning_rate = 0.1f;
  decide(scalars, {});
  float weight = 1, velocity = 0;
  const float gradient = 2;
  Update<float, float> update;
  update.scalars = &scalars;
  update.gradient = &gradient;
  update.first = &velocity;
  update.weight = &weight;
  update.is_adam = false;
  update.count = 1;
  run_calls(update, 1);
  EXPECT_FLOAT_EQ(weight, 0.8f);
}

TEST(LossScale, HalvesAtOverflowAndDoublesAfterTwoThousandGoodSteps) {
  StepScalars s;
  const StepRules rules{.dynamic_scale = true};
  s.overflow = 1;
  decide(s, rules);
  EXPECT_EQ(s.loss_scale, 32768);
  EXPECT_EQ(s.unscale, 1.0f / 65536);  // The gradients have the old scale.
  EXPECT_EQ(s.skip, 1);
  EXPECT_EQ(s.overflow, 0);
  for (int i = 0; i < 1999; ++i) decide(s, rules);
  EXPECT_EQ(s.loss_scale, 32768);
  EXPECT_EQ(s.skip, 0);
  decide(s, rules);
  EXPECT_EQ(s.loss_scale, 65536);
  EXPECT_EQ(s.good_steps, 0);
  for (int i = 0; i < 1999; ++i) decide(s, rules);
  s.overflow = 1;  // Restarts the count.
  decide(s, rules);
  decide(s, rules);
  EXPECT_EQ(s.loss_scale, 32768);
  EXPECT_EQ(s.good_steps, 1);
}

TEST(StepScalarsOfSeveralBatches, CountThemUntilTheLastOneDecides) {
  StepScalars s;
  run_calls(EndBatch{&s}, 2);
  EXPECT_EQ(batches_begun(s, 3), 2);
  decide(s, {});
  EXPECT_EQ(batches_begun(s, 3), 3);
}

TEST(LossScale, StaysWithinItsBounds) {
  StepScalars s;
  for (int i = 0; i < 100; ++i) {
    s.overflow = 1;
    decide(s, {.dynamic_scale = true});
  }
  EXPECT_EQ(s.loss_scale, 1);
  for (int i = 0; i < 2000 * 40; ++i) decide(s, {.dynamic_scale = true});
  EXPECT_EQ(s.loss_scale, 2147483648.0f);
}

TEST(LossScale, OfOtherPrecisionsNeverChangesAndAnOverflowIsTheEnd) {
  StepScalars s;
  s.loss_scale = 1;
  const StepRules rules{.dynamic_scale = false, .gradient_factor = 0.25f};
  for (int i = 0; i < 3000; ++i) {
    decide(s, rules);
    ASSERT_EQ(s.skip, 0);
  }
  EXPECT_EQ(s.loss_scale, 1);
  EXPECT_EQ(s.unscale, 0.25f);
  EXPECT_EQ(s.step, 3000);
  s.overflow = 1;
  for (int i = 0; i < 3; ++i) {
    decide(s, rules);
    ASSERT_EQ(s.skip, 1);
  }
  EXPECT_EQ(s.step, 3000);
}

TEST(BiasCorrection, IsThatOfTheStepEvenAfterMany) {
  StepScalars s;
  s.learning_rate = 1e-3f;
  const StepRules rules;
  for (int step = 1; step <= 20000; ++step) {
    decide(s, rules);
    if (step > 3 && step % 1000 != 0) continue;
    const double b1 = static_cast<double>(rules.beta1), b2 = static_cast<double>(rules.beta2);
    EXPECT_NEAR(static_cast<double>(s.adam_rate), 1e-3 / (1 - std::pow(b1, step)), 1e-9);
    EXPECT_NEAR(static_cast<double>(s.adam_root), 1 / std::sqrt(1 - std::pow(b2, step)), 1e-5);
  }
}

template <typename T>
class OverflowOf : public testing::Test {};
using Elements = testing::Types<float, Half, BFloat16>;
TYPED_TEST_SUITE(OverflowOf, Elements);

TYPED_TEST(OverflowOf, OneBadGradientAnywhereSetsTheFlag) {
  for (int count : {1, 7, 8, 9, 41}) {
    for (int bad = -1; bad <= count; ++bad) {  // -1: none; count: after the last.
      for (float value : {kInfinity, -kInfinity, std::nanf("")}) {
        Tensor<TypeParam> g(1, count + 1);
        g.fill([](int, int c) { return c % 2 == 0 ? 6e4 : -6e4; });
        if (bad >= 0) g.at(0, bad) = Element<TypeParam>::narrow(value);
        std::int32_t flag = 0;
        using Check = OverflowCheck<TypeParam>;
        run_calls(Check{g.view().data, count, &flag}, Check::calls(count));
        ASSERT_EQ(flag, bad >= 0 && bad < count ? 1 : 0) << bad << " of " << count;
      }
    }
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
