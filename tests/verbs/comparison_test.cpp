#include "verbs/selftest/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <utility>

namespace chexbench::verbs {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Comparison, HoldsWhereTheWorstIsAllowed) {
  Comparison comparison("logits", 1e-3);
  EXPECT_TRUE(comparison.holds());
  comparison.add(1e-3, "[0]");
  comparison.add(1e-5, "[1]");
  EXPECT_TRUE(comparison.holds());
  comparison.add(2e-3, "[2]");
  EXPECT_FALSE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("2.0e-03 of 1e-03  worst at [2]"));
}

TEST(Comparison, NeverForgetsNotANumber) {
  Comparison comparison("logits", 1e-3);
  comparison.add(kNan, "[0]");
  comparison.add(0, "[1]");
  EXPECT_FALSE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("inf of 1e-03  worst at [0]"));
}

TEST(Comparison, ByTheMedianForgivesTheFew) {
  Comparison comparison("entries", 1e-3, Comparison::By::median);
  for (const double deviation : {0.0, 5.0, 1e-4, 1e-4, 2e-4}) comparison.add(deviation, "conv1");
  EXPECT_TRUE(comparison.holds());
  EXPECT_THAT(comparison.text(), HasSubstr("1.0e-04 of 1e-03  worst 5.0e+00 at conv1"));
}

TEST(Comparison, ByTheMedianCountsNotANumberAsFar) {
  Comparison comparison("entries", 1e-3, Comparison::By::median);
  for (const double deviation : {kNan, kNan, 1e-4, kNan}) comparison.add(deviation, "conv1");
  EXPECT_FALSE(comparison.holds());
}

Learned learned(double off = 0) {
  const auto moved = [off](float value) { return static_cast<float>(value * (1 + off)); };
  return {.device = "a device",
          .names = {"conv1.weight", "conv1.bias", "layer1.weight", "layer2.weight", "fc.weight"},
          .gradients = {{moved(1), 2}, {1e-9f, 1e-9f}, {moved(3), 4}, {moved(4), 3}, {moved(5), 6}},
          .losses = {0.7, 0.6, 0.5}};
}

Learned with_gradient(Learned one, std::size_t parameter, std::vector<float> gradient) {
  one.gradients[parameter] = std::move(gradient);
  return one;
}

Learned with_losses(Learned one, std::vector<double> losses) {
  one.losses = std::move(losses);
  return one;
}

// Turns the gradients of these parameters by a right angle.
Learned turned(Learned one, std::initializer_list<std::size_t> parameters) {
  for (const std::size_t i : parameters) one.gradients[i] = {-one.gradients[i][1], one.gradients[i][0]};
  return one;
}

TEST(CompareTrainings, JudgeFusedConvolutionsByWhatRoundingExplains) {
  const Learned apart = learned(0.1), random = turned(learned(), {0, 1, 2, 3, 4});
  const Learned far = turned(apart, {2, 3, 4}), stuck = with_losses(apart, {0.7, 0.7, 0.7});
  const Learned rounded = with_gradient(apart, 1, {1e-5f, -1e-5f});
  const struct {
    const char* what;
    Trainings trainings;
    bool holds;
    const char* says;
  } cases[] = {
      {"what rounding explains", {learned(), apart, learned(-0.1)}, true, "judged: 4 of 5 parameters"},
      {"a fused gradient far off", {learned(), apart, with_gradient(apart, 2, {-3, 4})}, false, "layer1.weight"},
      {"all fused ones a little farther", {learned(), learned(0.02), learned(0.05)}, true, "gradients, fused"},
      {"all fused ones farther", {learned(), learned(0.02), learned(0.12)}, false, "gradients, fused"},
      {"separate ones mostly far", {learned(), far, far}, false, ""},
      {"what rounding alone moves far is not judged",
       {learned(), with_gradient(apart, 2, {3, -4}), with_gradient(apart, 2, {-3, 4})},
       true,
       "judged: 3 of 5 parameters"},
      {"nothing can be judged", {learned(), random, random}, false, ""},
      {"nothing is learned", {stuck, stuck, stuck}, false, ""},
      {"losses go another way", {learned(), apart, with_losses(apart, {0.7, 0.6, 0.53})}, false, "step 3"},
      {"not finite", {learned(), apart, with_gradient(apart, 4, {static_cast<float>(kNan), 6})}, false, ""},
      {"a bias whose gradient is zero but for rounding", {learned(), rounded, rounded}, true, ""}};
  for (const auto& [what, trainings, holds, says] : cases) {
    std::string text;
    EXPECT_EQ(compare_trainings(trainings, text), holds) << what << '\n' << text;
    EXPECT_THAT(text, HasSubstr(says)) << what;
  }
}

}  // namespace
}  // namespace chexbench::verbs
