// Compares in-place activations and dropout with their definitions.
#include "engine/onednn/activation_op.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr TensorShape kMaps{3, 24, 5, 7}, kFullMaps{3, 48, 5, 7}, kFlat{3, 48};

struct Case {
  std::string name;
  TensorShape shape;
  Layout layout;
  Clamp clamp;
  int readers = 1;
  spec::Precision precision = spec::Precision::f32;
};

class ActivationOpTest : public testing::TestWithParam<Case> {};

TEST_P(ActivationOpTest, ClampsValuesAndPassesTheGradientOfThoseWithin) {
  const Case& c = GetParam();
  if (const std::string reason = reason_to_skip(c.precision); !reason.empty()) GTEST_SKIP() << reason;
  OpRig rig(c.precision, c.layout == Layout::channels_last ? c.layout : Layout::blocked);
  Tensor& y = rig.tensor(c.shape, c.layout);
  std::vector<Tensor*> gradients;
  for (int i = 0; i < c.readers; ++i) gradients.push_back(&rig.gradient_of(y));
  rig.add<ActivationOp>(c.clamp, y);
  rig.place();
  const Numbers x = rig.fill(y, "x", 0.3);
  Numbers expected(x.size()), dx(x.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Numbers dy = rig.fill(*gradients[i], "dy" + std::to_string(i));
    for (std::size_t k = 0; k < dx.size(); ++k) dx[k] += dy[k];
  }
  const auto low = static_cast<double>(c.clamp.low), high = static_cast<double>(c.clamp.high);
  for (std::size_t i = 0; i < x.size(); ++i) {
    expected[i] = std::clamp(x[i], low, high);
    if (x[i] <= low || x[i] >= high) dx[i] = 0;
  }
  rig.forward();
  EXPECT_EQ(rig.read(y), expected);
  rig.backward();
  EXPECT_EQ(rig.planner().gradients(y).size(), 1u) << "the op before must not add them up once more";
  EXPECT_LT(distance(rig.read_gradient(y), dx), c.precision == spec::Precision::bf16 ? 1.2e-2 : 1e-6);
}

// The values are in [-0.7, 1.3), so an upper limit of 0.5 clamps some of them, like ReLU6's limit of 6.
INSTANTIATE_TEST_SUITE_P(
    All, ActivationOpTest,
    testing::Values(Case{"relu_of_maps", kMaps, Layout::blocked, {0, kInfinity}},
                    Case{"clamp_of_maps", kMaps, Layout::blocked, {0, 0.5f}, 2},
                    Case{"three_readers", kMaps, Layout::blocked, {0, kInfinity}, 3},
                    Case{"relu_of_vectors", kFlat, Layout::flat, {0, kInfinity}},
                    Case{"channels_last_maps", kFullMaps, Layout::channels_last, {0, 0.5f}, 3},
                    Case{"bf16_maps", kMaps, Layout::blocked, {0, 0.5f}, 2, spec::Precision::bf16},
                    Case{"flat_beside_bf16", kFlat, Layout::flat, {0, 0.5f}, 2, spec::Precision::bf16}),
    [](const auto& instance) { return instance.param.name; });

// An op with its tensor and gradient, both filled with ones.
struct Dropped {
  Numbers y, dx;
  Dropped(double rate, int layer, std::uint64_t batch_seed) {
    const PassMode mode{.batch_seed = batch_seed};
    OpRig rig;
    Tensor& tensor = rig.tensor({4, 4096}, Layout::flat);
    Tensor& gradient = rig.gradient_of(tensor);
    rig.add<DropoutOp>(rate, layer, mode, tensor);
    rig.place();
    rig.write(tensor, std::vector<float>(4 * 4096, 1.0f));
    rig.write(gradient, std::vector<float>(4 * 4096, 1.0f));
    rig.forward();
    y = rig.read(tensor);
    rig.backward();
    dx = rig.read(gradient);
  }
};

TEST(DropoutOp, DropsItsShareAndScalesTheRestUp) {
  for (const double rate : {0.2, 0.5}) {
    const Numbers y = Dropped(rate, 3, 1).y;
    const auto dropped = static_cast<double>(std::ranges::count(y, 0.0));
    EXPECT_NEAR(dropped / static_cast<double>(y.size()), rate, 0.015);
    for (const double value : y) ASSERT_TRUE(value == 0 || std::abs(value - 1 / (1 - rate)) < 1e-6);
  }
}

TEST(DropoutOp, DropsTheGradientsOfTheSameUnits) {
  const Dropped dropped(0.5, 3, 1);
  EXPECT_EQ(dropped.dx, dropped.y);
}

TEST(DropoutOp, DrawsAnewForEveryStepLayerAndImage) {
  const Numbers y = Dropped(0.5, 3, 1).y;
  EXPECT_EQ(y, Dropped(0.5, 3, 1).y);
  EXPECT_NE(y, Dropped(0.5, 3, 2).y);
  EXPECT_NE(y, Dropped(0.5, 4, 1).y);
  EXPECT_FALSE(std::equal(y.begin(), y.begin() + 4096, y.begin() + 4096));
}

TEST(DropoutOp, ShowsNotANumberWhereItDropsOne) {
  OpRig rig;
  Tensor& y = rig.tensor({1, 64}, Layout::flat);
  rig.gradient_of(y);
  rig.add<DropoutOp>(0.5, 0, rig.mode(), y);
  rig.place();
  rig.write(y, std::vector<float>(64, std::numeric_limits<float>::quiet_NaN()));
  rig.forward();
  for (const double value : rig.read(y)) EXPECT_TRUE(std::isnan(value));
}

}  // namespace
}  // namespace chexbench::engine::onednn
