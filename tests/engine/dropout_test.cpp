#include "engine/dropout.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace chexbench::engine {
namespace {

constexpr int kValues = 4096;

std::vector<float> factors(const DropoutMask& mask) {
  std::vector<float> all;
  for (int i = 0; i < kValues; ++i) all.push_back(mask.factor(i));
  return all;
}

std::vector<float> factors(std::uint64_t seed, std::int64_t step, int layer, int image) {
  return factors(DropoutMask(dropout_batch_seed(seed, step), layer, image, 0.5));
}

TEST(Dropout, DropsItsShareAndScalesTheRestUp) {
  for (const double rate : {0.2, 0.5}) {
    int dropped = 0;
    for (const float factor : factors(DropoutMask(7, 3, 1, rate))) {
      dropped += factor == 0;
      ASSERT_TRUE(factor == 0 || factor == static_cast<float>(1 / (1 - rate)));
    }
    EXPECT_NEAR(static_cast<double>(dropped) / kValues, rate, 0.03);
  }
}

TEST(Dropout, DrawsAnewForEverySeedRankStepLayerAndImage) {
  const std::uint64_t seed = dropout_seed(1, 0);
  const std::vector<float> mask = factors(seed, 5, 3, 1);
  EXPECT_EQ(mask, factors(seed, 5, 3, 1));
  EXPECT_NE(mask, factors(dropout_seed(2, 0), 5, 3, 1));
  EXPECT_NE(mask, factors(dropout_seed(1, 1), 5, 3, 1));
  EXPECT_NE(mask, factors(seed, 6, 3, 1));
  EXPECT_NE(mask, factors(seed, 5, 4, 1));
  EXPECT_NE(mask, factors(seed, 5, 3, 2));
}

// Drawing the values one after another gives the same result as jumping to any one of them.
TEST(Dropout, ValuesAreThoseOfTheImagesStreamInTheirOrder) {
  RandomStream stream(derive_seed(derive_seed(7, 3), 1));
  for (const float factor : factors(DropoutMask(7, 3, 1, 0.2))) ASSERT_EQ(factor == 0, stream.uniform() < 0.2);
}

}  // namespace
}  // namespace chexbench::engine
