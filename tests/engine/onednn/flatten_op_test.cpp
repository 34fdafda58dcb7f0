// Compares adaptive average pools that are flattened with PyTorch's definition of their windows.
#include "engine/onednn/pool_ops.hpp"

#include <gtest/gtest.h>

#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

struct Case {
  std::string name;
  TensorShape shape;
  int size;
  spec::Precision precision = spec::Precision::f32;
  Layout layout = Layout::blocked;
};

class FlattenOpTest : public testing::TestWithParam<Case> {};

// Returns the elements of x, as indices in NCHW order, whose mean is element `i` of `size` x `size` outputs per
// channel.
std::vector<std::size_t> window(std::size_t i, const TensorShape& shape, int size) {
  const int place = static_cast<int>(i) % (size * size), plane = static_cast<int>(i) / (size * size);
  const auto begin = [size](int out, int inputs) { return out * inputs / size; };
  const auto end = [size](int out, int inputs) { return ((out + 1) * inputs + size - 1) / size; };
  std::vector<std::size_t> inside;
  for (int row = begin(place / size, shape.height); row < end(place / size, shape.height); ++row) {
    for (int column = begin(place % size, shape.width); column < end(place % size, shape.width); ++column) {
      inside.push_back(static_cast<std::size_t>((plane * shape.height + row) * shape.width + column));
    }
  }
  return inside;
}

TEST_P(FlattenOpTest, AveragesItsWindowsAndSpreadsTheGradient) {
  const Case& c = GetParam();
  if (const std::string reason = reason_to_skip(c.precision); !reason.empty()) GTEST_SKIP() << reason;
  OpRig rig(c.precision, c.layout);
  Tensor& x = rig.tensor(c.shape);
  Tensor& y = rig.tensor({c.shape.images, c.shape.channels * c.size * c.size}, Layout::flat);
  Tensor& dy = rig.gradient_of(y);
  rig.add_plain<FlattenOp>(x, FlattenOp::Size{c.size, c.size}, y);
  rig.place();
  const Numbers x_values = rig.fill(x, "x"), dy_values = rig.fill(dy, "dy");
  Numbers expected(dy_values.size()), dx(x_values.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::vector<std::size_t> inside = window(i, c.shape, c.size);
    for (const std::size_t from : inside) {
      expected[i] += x_values[from] / static_cast<double>(inside.size());
      dx[from] += dy_values[i] / static_cast<double>(inside.size());
    }
  }
  rig.forward();
  EXPECT_LT(distance(rig.read(y), expected), 1e-6);
  rig.backward();
  EXPECT_LT(distance(rig.read_gradient(x), dx), c.precision == spec::Precision::bf16 ? 5e-3 : 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    All, FlattenOpTest,
    testing::Values(Case{"same_size", {3, 32, 6, 6}, 6}, Case{"overlapping", {3, 32, 7, 9}, 6},
                    Case{"dividing", {2, 16, 12, 6}, 6}, Case{"enlarging", {2, 16, 1, 2}, 6},
                    Case{"part_of_a_vector", {2, 24, 7, 7}, 6}, Case{"bf16", {2, 32, 7, 9}, 6, spec::Precision::bf16},
                    Case{"channels_last", {2, 32, 7, 9}, 6, spec::Precision::f32, Layout::channels_last}),
    [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace chexbench::engine::onednn
