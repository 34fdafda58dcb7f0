// Compares the linear layer with the loops of its definition, computed in double.
#include "engine/onednn/linear_op.hpp"

#include <gtest/gtest.h>

#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

TEST(LinearOp, AgreesWithThePlainLoops) {
  constexpr std::size_t kImages = 5, kInputs = 48, kOutputs = 14;
  const PassMode mode;
  OpRig rig;
  Tensor &x = rig.tensor({kImages, kInputs}, Layout::flat), &y = rig.tensor({kImages, kOutputs}, Layout::flat);
  Tensor& dy = rig.gradient_of(y);
  rig.add<LinearOp>(model::Layer{.name = "fc"}, mode, x, y);
  rig.place();
  const Numbers x_values = rig.fill(x, "x"), g = rig.fill(dy, "dy");
  const Numbers weights = rig.load("fc.weight"), bias = rig.load("fc.bias");
  Numbers expected(g.size()), dx(x_values.size()), dweight(weights.size()), dbias(kOutputs);
  for (std::size_t to = 0; to < g.size(); ++to) {
    const std::size_t image = to / kOutputs, output = to % kOutputs;
    expected[to] = bias[output];
    dbias[output] += g[to];
    for (std::size_t input = 0; input < kInputs; ++input) {
      expected[to] += weights[output * kInputs + input] * x_values[image * kInputs + input];
      dx[image * kInputs + input] += weights[output * kInputs + input] * g[to];
      dweight[output * kInputs + input] += x_values[image * kInputs + input] * g[to];
    }
  }
  rig.forward();
  EXPECT_LT(distance(rig.read(y), expected), 3e-6);
  rig.backward();
  EXPECT_LT(distance(rig.read_gradient(x), dx), 3e-6);
  EXPECT_LT(distance(rig.read_parameter_gradient("fc.weight"), dweight), 3e-6);
  EXPECT_LT(distance(rig.read_parameter_gradient("fc.bias"), dbias), 3e-6);
}

}  // namespace
}  // namespace chexbench::engine::onednn
