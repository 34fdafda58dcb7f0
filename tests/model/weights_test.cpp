#include "model/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/errors.hpp"
#include "model/networks.hpp"

namespace chexbench::model {
namespace {

std::vector<float> filled(const WeightSource& source, const TensorInfo& info) {
  std::vector<float> values(static_cast<std::size_t>(info.count()));
  source(info, values);
  return values;
}

double deviation(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

const TensorInfo kConvolution{"conv1.weight", {64, 32, 3, 3}};

TEST(RandomWeights, AreReproducibleAndDependOnSeedAndName) {
  EXPECT_EQ(filled(random_weights(1, {Draw::he_fan_out}), kConvolution),
            filled(random_weights(1, {Draw::he_fan_out}), kConvolution));
  EXPECT_NE(filled(random_weights(1, {Draw::he_fan_out}), kConvolution),
            filled(random_weights(2, {Draw::he_fan_out}), kConvolution));
  EXPECT_NE(filled(random_weights(1, {Draw::he_fan_out}), kConvolution),
            filled(random_weights(1, {Draw::he_fan_out}), {"conv2.weight", {64, 32, 3, 3}}));
}

TEST(RandomWeights, OfConvolutionsHaveTheVarianceOfHe) {
  EXPECT_NEAR(deviation(filled(random_weights(7, {Draw::he_fan_out}), kConvolution)), std::sqrt(2.0 / (64 * 9)), 1e-3);
  EXPECT_NEAR(deviation(filled(random_weights(7, {Draw::he_fan_in}), kConvolution)), std::sqrt(2.0 / (32 * 9)), 1e-3);
}

TEST(RandomWeights, AreDrawnAsTorchvisionDrawsThoseOfTheNetwork) {
  EXPECT_EQ(weight_draws("resnet50").convolution, Draw::he_fan_out);
  EXPECT_EQ(weight_draws("densenet121").convolution, Draw::he_fan_in);
  EXPECT_EQ(weight_draws("alexnet").convolution, Draw::uniform_fan_in);
  EXPECT_EQ(weight_draws("mobilenet_v2").linear, Draw::narrow);
  EXPECT_THROW(weight_draws("resnet5"), SpecError);
}

TEST(RandomWeights, OfLinearLayersStayWithinTheirBound) {
  const auto values = filled(random_weights(7, {Draw::he_fan_out}), {"fc.weight", {14, 400}});
  for (const float value : values) EXPECT_LE(std::abs(value), 0.05f);
  EXPECT_NEAR(deviation(values), 0.05 / std::sqrt(3.0), 1e-3);
}

TEST(RandomWeights, MayBeUniformInConvolutionsAndNarrowInLinearLayers) {
  const WeightDraws draws{Draw::uniform_fan_in, Draw::narrow};
  const auto convolution = filled(random_weights(7, draws), kConvolution);
  const float bound = 1.0f / std::sqrt(32.0f * 9);
  for (const float value : convolution) ASSERT_LE(std::abs(value), bound);
  EXPECT_NEAR(deviation(convolution), static_cast<double>(bound) / std::sqrt(3.0), 1e-3);
  EXPECT_NEAR(deviation(filled(random_weights(7, draws), {"fc.weight", {14, 400}})), 0.01, 4e-4);
}

TEST(RandomWeights, OfBatchNormsAreTheIdentity) {
  EXPECT_EQ(filled(random_weights(7, {Draw::he_fan_out}), {"bn1.weight", {3}}), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(filled(random_weights(7, {Draw::he_fan_out}), {"bn1.bias", {3}}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(filled(random_weights(7, {Draw::he_fan_out}), {"bn1.running_mean", {2}}), (std::vector<float>{0, 0}));
  EXPECT_EQ(filled(random_weights(7, {Draw::he_fan_out}), {"bn1.running_var", {2}}), (std::vector<float>{1, 1}));
}

// Computed with numpy from the formula.
TEST(FormulaWeights, GiveTheValuesThatOtherFrameworksCompute) {
  std::vector<float> input(3);
  fill_formula_signed("", "input", input);
  const auto weights = filled(formula_weights(""), {"conv1.weight", {1, 3, 1, 1}});
  const auto scale = filled(formula_weights(""), {"bn1.weight", {2}});
  EXPECT_FLOAT_EQ(input[0], -0.80436337f);
  EXPECT_FLOAT_EQ(input[2], -0.5927515f);
  EXPECT_FLOAT_EQ(weights[1], 0.69342204f);
  EXPECT_FLOAT_EQ(scale[0], 0.9720408f);
}

TEST(FormulaWeights, DependOnTheSalt) {
  EXPECT_NE(filled(formula_weights("a"), kConvolution), filled(formula_weights("b"), kConvolution));
}

TEST(FormulaLabels, AreThreeTenthsOnes) {
  std::vector<float> labels(20000);
  fill_formula_labels("", "target", labels);
  double ones = 0;
  for (const float label : labels) {
    ASSERT_TRUE(label == 0.0f || label == 1.0f);
    ones += static_cast<double>(label);
  }
  EXPECT_NEAR(ones / 20000, 0.3, 0.01);
}

}  // namespace
}  // namespace chexbench::model
