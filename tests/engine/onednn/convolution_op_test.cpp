// Compares convolutions with the loops of their definition, computed in double.
#include "engine/onednn/convolution_op.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "engine/onednn/parallel.hpp"
#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

struct Case {
  std::string name;
  int inputs, outputs, height, width;
  int kernel, stride = 1, padding = 0;
  spec::Precision precision = spec::Precision::f32;
  int groups = 1;
  bool bias = false;
  Layout layout = Layout::blocked;
  int threads = 1;

  int inputs_of_group() const { return inputs / groups; }
  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};

constexpr int kImages = 3;

// Calls body(source, weight, destination) with the element indices of every product that the definition sums for one
// element of the destination.
template <typename Body>
void for_products_of(const Case& c, int image, int output, int place, const Body& body) {
  const int top = place / c.out_width() * c.stride - c.padding, left = place % c.out_width() * c.stride - c.padding;
  const int first_input = output / (c.outputs / c.groups) * c.inputs_of_group();
  const auto to = static_cast<std::size_t>((image * c.outputs + output) * c.out_height() * c.out_width() + place);
  for (int input = 0; input < c.inputs_of_group(); ++input) {
    for (int row = std::max(top, 0); row < std::min(top + c.kernel, c.height); ++row) {
      const int from = ((image * c.inputs + first_input + input) * c.height + row) * c.width;
      const int weight = ((output * c.inputs_of_group() + input) * c.kernel + row - top) * c.kernel - left;
      for (int column = std::max(left, 0); column < std::min(left + c.kernel, c.width); ++column) {
        body(static_cast<std::size_t>(from + column), static_cast<std::size_t>(weight + column), to);
      }
    }
  }
}

// Does the same for all elements of the destination.
template <typename Body>
void for_products(const Case& c, const Body& body) {
  for (int image = 0; image < kImages; ++image) {
    for (int output = 0; output < c.outputs; ++output) {
      for (int place = 0; place < c.out_height() * c.out_width(); ++place)
        for_products_of(c, image, output, place, body);
    }
  }
}

class ConvolutionOpTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const std::string reason = reason_to_skip(GetParam().precision); !reason.empty()) GTEST_SKIP() << reason;
    const Case& c = GetParam();
    set_parallel_threads(c.threads);
    rig_ = std::make_unique<OpRig>(c.precision, c.layout);
    x_ = &rig_->tensor({kImages, c.inputs, c.height, c.width}, layout_of_source());
    y_ = &rig_->tensor({kImages, c.outputs, c.out_height(), c.out_width()});
    dy_ = &rig_->gradient_of(*y_);
    const model::Layer layer{.name = "conv",
                             .kernel = c.kernel,
                             .stride = c.stride,
                             .padding = c.padding,
                             .groups = c.groups,
                             .bias = c.bias};
    const model::TensorInfo weight{"conv.weight", {c.outputs, c.inputs_of_group(), c.kernel, c.kernel}};
    op_ = &rig_->add<ConvolutionOp>(layer, weight, rig_->mode(), *x_, *y_, !reads_image(), rig_->scratchpad());
    rig_->place();
    x_values_ = rig_->fill(*x_, "x");
    dy_values_ = rig_->fill(*dy_, "dy");
    weights_ = rig_->load("conv.weight");
    if (c.bias) bias_ = rig_->load("conv.bias", 0.5);
  }
  ~ConvolutionOpTest() override { set_parallel_threads(1); }
  static Layout layout_of_source() {
    return reads_image() && GetParam().layout == Layout::blocked ? Layout::nchw : GetParam().layout;
  }
  // Whether the case is the first convolution of a network, for which no source gradient is computed.
  static bool reads_image() { return GetParam().inputs == 3; }
  // The allowed relative error of values that are stored in the case's precision.
  static double tolerance() { return GetParam().precision == spec::Precision::bf16 ? 8e-3 : 3e-6; }
  Numbers expected_forward() const {
    Numbers y(dy_values_.size());
    for (std::size_t i = 0; i < y.size() && GetParam().bias; ++i) y[i] = bias_[output_of(i)];
    for_products(GetParam(), [&](auto from, auto weight, auto to) { y[to] += x_values_[from] * weights_[weight]; });
    return y;
  }

  // Returns the channel of element i of y.
  std::size_t output_of(std::size_t i) const {
    return i / static_cast<std::size_t>(y_->shape.pixels()) % static_cast<std::size_t>(GetParam().outputs);
  }

  std::unique_ptr<OpRig> rig_;
  const ConvolutionOp* op_ = nullptr;
  Tensor *x_ = nullptr, *y_ = nullptr, *dy_ = nullptr;
  Numbers x_values_, dy_values_, weights_, bias_;
};

TEST_P(ConvolutionOpTest, ForwardSumsTheProductsOfItsWindows) {
  rig_->forward();
  EXPECT_LT(distance(rig_->read(*y_), expected_forward()), tolerance());
}

// One layer in oneDNN's reference loops would take longer than all others together.
TEST_P(ConvolutionOpTest, IsNotLeftToPlainLoops) {
  EXPECT_FALSE(is_reference(op_->forward_implementation()));
  const bool is_f32 = GetParam().precision == spec::Precision::f32;
  EXPECT_FALSE(is_f32 && is_reference(op_->weights_implementation()));
}

TEST_P(ConvolutionOpTest, ForwardOnAnyNumberOfThreadsIsTheSame) {
  rig_->mode().any_threads = true;
  rig_->forward();
  EXPECT_LT(distance(rig_->read(*y_), expected_forward()), tolerance());
}

TEST_P(ConvolutionOpTest, ForwardUsesTheNewWeightsOnceTheyAreRefreshed) {
  rig_->forward();
  weights_ = rig_->load("conv.weight", 0.25);
  rig_->forward();
  EXPECT_LT(distance(rig_->read(*y_), expected_forward()), tolerance());
}

TEST_P(ConvolutionOpTest, BackwardGivesTheGradientsOfTheWeightsAndTheBias) {
  rig_->forward();
  // Runs it twice, since the gradient must be that of one step, not a running sum, with the same bits every time.
  rig_->backward();
  const Numbers first = rig_->read_parameter_gradient("conv.weight");
  rig_->backward();
  EXPECT_TRUE(rig_->read_parameter_gradient("conv.weight") == first);
  Numbers expected(weights_.size());
  for_products(GetParam(),
               [&](auto from, auto weight, auto to) { expected[weight] += x_values_[from] * dy_values_[to]; });
  EXPECT_LT(distance(rig_->read_parameter_gradient("conv.weight"), expected), 3e-6) << "stored in f32 always";
  if (!GetParam().bias) return;
  Numbers expected_bias(static_cast<std::size_t>(GetParam().outputs));
  for (std::size_t i = 0; i < dy_values_.size(); ++i) expected_bias[output_of(i)] += dy_values_[i];
  EXPECT_LT(distance(rig_->read_parameter_gradient("conv.bias"), expected_bias), 3e-6);
}

TEST_P(ConvolutionOpTest, BackwardGivesTheGradientOfTheData) {
  if (reads_image()) {
    EXPECT_TRUE(rig_->planner().gradients(*x_).empty());
    return;
  }
  rig_->forward();
  rig_->backward();
  Numbers expected(x_values_.size());
  for_products(GetParam(),
               [&](auto from, auto weight, auto to) { expected[from] += weights_[weight] * dy_values_[to]; });
  EXPECT_LT(distance(rig_->read_gradient(*x_), expected), tolerance());
}

// Winograd's algorithm adds and subtracts neighbours, which must not turn NaN into a number.
TEST_P(ConvolutionOpTest, WhatIsNoNumberMakesGradientsThatAreNone) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {kNan, kInfinity}) {
    std::vector<float> dy(dy_values_.begin(), dy_values_.end());
    const std::size_t at = dy.size() / 2;
    dy[at] = value;
    rig_->write(*dy_, dy);
    rig_->forward();
    rig_->backward();
    const Numbers weights = rig_->read_parameter_gradient("conv.weight");
    const Numbers data = reads_image() ? Numbers(x_values_.size(), value) : rig_->read_gradient(*x_);
    int numbers = 0;
    const int pixels = y_->shape.pixels(), index = static_cast<int>(at);
    for_products_of(GetParam(), index / pixels / GetParam().outputs, index / pixels % GetParam().outputs,
                    index % pixels, [&](auto from, auto weight, auto to) {
                      ASSERT_EQ(to, at);
                      if (std::isfinite(weights[weight]) || std::isfinite(data[from])) ++numbers;
                    });
    EXPECT_EQ(numbers, 0) << "of " << value;
  }
}

// Only gradients: in forward its rounding errors switch so many more activations that ResNet50's gradients would exceed
// the tolerance of the golden values.
TEST_P(ConvolutionOpTest, GradientsTakeWinogradsAlgorithmWhereItIsFaster) {
  const bool expected = GetParam().name.find("winograd") != std::string::npos && dnnl::version()->major == 2 &&
                        make_device(GetParam().precision).isa == Isa::avx512;
  EXPECT_EQ(op_->uses_winograd(), expected);
  EXPECT_FALSE(is_winograd(op_->forward_implementation()));
  EXPECT_EQ(is_winograd(op_->data_implementation()), expected) << op_->data_implementation();
  EXPECT_EQ(is_winograd(op_->weights_implementation()), expected) << op_->weights_implementation();
}

constexpr auto kF32 = spec::Precision::f32;
constexpr auto kBf16 = spec::Precision::bf16;
constexpr auto kLast = Layout::channels_last;
INSTANTIATE_TEST_SUITE_P(
    All, ConvolutionOpTest,
    testing::Values(Case{"same_3x3", 16, 32, 6, 9, 3, 1, 1}, Case{"halving_3x3", 16, 16, 7, 10, 3, 2, 1},
                    Case{"projection_1x1", 32, 16, 7, 5, 1, 2}, Case{"wide_1x1", 48, 32, 4, 5, 1},
                    Case{"unpadded_5x5", 16, 16, 11, 12, 5, 3}, Case{"image_7x7", 3, 16, 13, 11, 7, 2, 3},
                    Case{"depthwise_3x3", 48, 48, 7, 10, 3, 1, 1, kF32, 48},
                    Case{"halving_depthwise", 32, 32, 7, 10, 3, 2, 1, kF32, 32},
                    Case{"biased_3x3", 16, 32, 6, 9, 3, 1, 1, kF32, 1, true},
                    Case{"biased_image_11x11", 3, 16, 27, 31, 11, 4, 2, kF32, 1, true},
                    Case{"tiny_3x3", 32, 64, 2, 2, 3, 1, 1},
                    Case{"tiny_biased_3x3", 48, 128, 1, 2, 3, 1, 1, kF32, 1, true},
                    Case{"narrowing_to_24", 48, 24, 5, 7, 1}, Case{"widening_from_24", 24, 48, 5, 7, 1},
                    Case{"from_24_3x3", 24, 32, 6, 9, 3, 1, 1}, Case{"winograd_3x3", 128, 128, 16, 17, 3, 1, 1},
                    Case{"winograd_biased_of_2_threads", 96, 160, 18, 19, 3, 1, 0, kF32, 1, true, Layout::blocked, 2},
                    Case{"many_pixels_from_40_3x3", 40, 384, 16, 17, 3, 1, 1},
                    Case{"bf16_depthwise", 32, 32, 7, 10, 3, 1, 1, kBf16, 32},
                    Case{"bf16_3x3", 16, 32, 7, 10, 3, 2, 1, kBf16}, Case{"bf16_1x1", 48, 32, 4, 5, 1, 1, 0, kBf16},
                    Case{"bf16_3x3_of_2_threads", 16, 32, 7, 10, 3, 2, 1, kBf16, 1, false, Layout::blocked, 2},
                    Case{"bf16_3x3_of_3_threads", 32, 16, 6, 9, 3, 1, 1, kBf16, 1, false, Layout::blocked, 3},
                    Case{"bf16_3x3_of_more_threads_than_images", 16, 32, 7, 10, 3, 1, 1, kBf16, 1, false,
                         Layout::blocked, 4},
                    Case{"bf16_image_7x7", 3, 16, 13, 11, 7, 2, 3, kBf16},
                    Case{"channels_last_1x1", 48, 32, 4, 5, 1, 1, 0, kF32, 1, false, kLast},
                    Case{"channels_last_3x3", 16, 32, 6, 9, 3, 1, 1, kF32, 1, false, kLast}),
    [](const auto& instance) { return instance.param.name; });

// oneDNN takes bf16 in NHWC to AMX, and without AMX partly to plain loops, so that the engine does not ask for it.
class AmxConvolutionOpTest : public ConvolutionOpTest {
 protected:
  void SetUp() override {
    if (!has_amx()) GTEST_SKIP() << "this CPU has no AMX";
    ConvolutionOpTest::SetUp();
  }
};

TEST_P(AmxConvolutionOpTest, ForwardRunsOnAmx) {
  EXPECT_THAT(op_->forward_implementation(), testing::HasSubstr("amx"));
  rig_->forward();
  EXPECT_LT(distance(rig_->read(*y_), expected_forward()), tolerance());
}

TEST_P(AmxConvolutionOpTest, BackwardGivesBothGradients) {
  rig_->forward();
  rig_->backward();
  Numbers weight_gradient(weights_.size()), data_gradient(x_values_.size());
  for_products(GetParam(), [&](auto from, auto weight, auto to) {
    weight_gradient[weight] += x_values_[from] * dy_values_[to];
    data_gradient[from] += weights_[weight] * dy_values_[to];
  });
  EXPECT_LT(distance(rig_->read_parameter_gradient("conv.weight"), weight_gradient), 3e-6) << "stored in f32 always";
  if (reads_image()) return;
  EXPECT_LT(distance(rig_->read_gradient(*x_), data_gradient), tolerance());
}

INSTANTIATE_TEST_SUITE_P(All, AmxConvolutionOpTest,
                         testing::Values(Case{"halving_3x3", 16, 32, 7, 10, 3, 2, 1, kBf16, 1, false, kLast},
                                         Case{"wide_1x1", 48, 32, 4, 5, 1, 1, 0, kBf16, 1, false, kLast},
                                         Case{"projection_1x1", 32, 64, 7, 5, 1, 2, 0, kBf16, 1, false, kLast},
                                         Case{"biased_1x1", 48, 32, 4, 5, 1, 1, 0, kBf16, 1, true, kLast},
                                         Case{"image_7x7", 3, 64, 13, 11, 7, 2, 3, kBf16, 1, false, kLast}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace chexbench::engine::onednn
