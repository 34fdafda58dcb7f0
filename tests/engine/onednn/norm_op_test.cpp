// Compares batch norm with residual and activation, and norms over dense blocks, with PyTorch's formulas in double.
#include "engine/onednn/norm_ops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Clamp kNone{-kInfinity, kInfinity}, kRelu{0, kInfinity}, kRelu6{0, 6};
constexpr TensorShape kShape{3, 32, 5, 7};
constexpr double kEpsilon = 1e-3;

std::size_t channel_of(std::size_t i, const TensorShape& shape) {
  return i / static_cast<std::size_t>(shape.pixels()) % static_cast<std::size_t>(shape.channels);
}

// Computes the effect of a norm on a batch, channel by channel.
struct Reference {
  Numbers mean, variance, unbiased;  // of the batch
  Numbers y, dx, masked, weight_gradient, bias_gradient;

  Reference(const Numbers& x, const TensorShape& shape) : mean(static_cast<std::size_t>(shape.channels)) {
    variance = unbiased = weight_gradient = bias_gradient = mean;
    count = static_cast<double>(x.size()) / shape.channels;
    for (std::size_t i = 0; i < x.size(); ++i) mean[channel_of(i, shape)] += x[i] / count;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel_of(i, shape);
      variance[c] += (x[i] - mean[c]) * (x[i] - mean[c]) / count;
    }
    for (std::size_t c = 0; c < mean.size(); ++c) unbiased[c] = variance[c] * count / (count - 1);
  }
  void normalize(const Numbers& x, const TensorShape& shape, const Numbers& weight, const Numbers& bias,
                 const Numbers& residual, Clamp clamp) {
    y.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel_of(i, shape);
      const double value = weight[c] * (x[i] - mean[c]) / std::sqrt(variance[c] + kEpsilon) + bias[c];
      y[i] = std::clamp(value + (residual.empty() ? 0 : residual[i]), static_cast<double>(clamp.low),
                        static_cast<double>(clamp.high));
    }
  }
  void backward(const Numbers& x, const TensorShape& shape, const Numbers& weight, const Numbers& dy, Clamp clamp,
                bool frozen) {
    masked = dy;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel_of(i, shape);
      if (y[i] <= static_cast<double>(clamp.low) || y[i] >= static_cast<double>(clamp.high)) masked[i] = 0;
      bias_gradient[c] += masked[i];
      weight_gradient[c] += masked[i] * (x[i] - mean[c]) / std::sqrt(variance[c] + kEpsilon);
    }
    dx.resize(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = channel_of(i, shape);
      const double inverse = 1 / std::sqrt(variance[c] + kEpsilon);
      const double of_statistics = bias_gradient[c] / count + (x[i] - mean[c]) * inverse * weight_gradient[c] / count;
      dx[i] = weight[c] * inverse * (masked[i] - (frozen ? 0 : of_statistics));
    }
  }

 private:
  double count = 0;
};

Numbers buffer(Op& op, std::size_t which) { return numbers(*op.buffers().at(which).values); }

struct Case {
  std::string name;
  Clamp clamp = kRelu;
  bool residual = false;
  int gradients = 1;  // number of readers of y
  bool frozen = false;
  int threads = 1;  // with three, blocks are cut into runs of images
  spec::Precision precision = spec::Precision::f32;
  Layout layout = Layout::blocked;
};

class NormOpTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    if (const std::string reason = reason_to_skip(c.precision); !reason.empty()) GTEST_SKIP() << reason;
    set_parallel_threads(c.threads);
    rig_ = std::make_unique<OpRig>(c.precision, c.layout);
    x_ = &rig_->tensor(kShape);
    if (c.residual) residual_ = &rig_->tensor(kShape);
    y_ = &rig_->tensor(kShape);
    for (int i = 0; i < c.gradients; ++i) dy_.push_back(&rig_->gradient_of(*y_));
    const model::Layer layer{.name = "bn", .channels = kShape.channels, .epsilon = kEpsilon};
    rig_->mode().running_statistics = c.frozen;
    op_ = &rig_->add<NormOp>(layer, rig_->mode(), c.clamp, *x_, residual_, NormOp::Output{*y_});
    rig_->place();
    x_values_ = rig_->fill(*x_, "x", 0.5);
    if (c.residual) residual_values_ = rig_->fill(*residual_, "residual");
    weight_ = rig_->load("bn.weight", 2.5);
    bias_ = rig_->load("bn.bias", c.clamp.high == 6 ? 3 : 0);
    expected_ = std::make_unique<Reference>(x_values_, kShape);
    if (c.frozen) {
      std::fill(expected_->mean.begin(), expected_->mean.end(), 0.0);
      std::fill(expected_->variance.begin(), expected_->variance.end(), 1.0);
    }
    expected_->normalize(x_values_, kShape, weight_, bias_, residual_values_, c.clamp);
    rig_->forward();
  }
  void TearDown() override { set_parallel_threads(1); }
  static double tolerance() { return GetParam().precision == spec::Precision::bf16 ? 1.2e-2 : 3e-6; }

  std::unique_ptr<OpRig> rig_;
  NormOp* op_ = nullptr;
  Tensor *x_ = nullptr, *residual_ = nullptr, *y_ = nullptr;
  std::vector<Tensor*> dy_;
  Numbers x_values_, residual_values_, weight_, bias_;
  std::unique_ptr<Reference> expected_;
};

TEST_P(NormOpTest, ForwardNormalizesAddsAndActivates) {
  EXPECT_LT(distance(rig_->read(*y_), expected_->y), tolerance());
}

// Threads take work in any order, but their sums are always added in the same order.
TEST_P(NormOpTest, ForwardGivesTheSameBitsEachTime) {
  const Numbers once = rig_->read(*y_);
  for (int repeat = 0; repeat < 20; ++repeat) {
    rig_->forward();
    ASSERT_EQ(rig_->read(*y_), once);
  }
}

TEST_P(NormOpTest, RunningStatisticsMoveATenthOfTheWayToTheUnbiasedOnesOfEachBatch) {
  rig_->forward();
  Numbers mean(expected_->mean.size()), variance(mean.size(), 1.0);
  for (int step = 0; step < 2 && !GetParam().frozen; ++step) {
    for (std::size_t c = 0; c < mean.size(); ++c) {
      mean[c] = 0.9 * mean[c] + 0.1 * expected_->mean[c];
      variance[c] = 0.9 * variance[c] + 0.1 * expected_->unbiased[c];
    }
  }
  EXPECT_LT(distance(buffer(*op_, 0), mean), 3e-6);
  EXPECT_LT(distance(buffer(*op_, 1), variance), 3e-6);
}

TEST_P(NormOpTest, BackwardSumsItsReadersAndDividesTheGradientAmongItsInputs) {
  Numbers sum(x_values_.size());
  for (std::size_t reader = 0; reader < dy_.size(); ++reader) {
    const Numbers values = rig_->fill(*dy_[reader], "dy" + std::to_string(reader));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
  }
  expected_->backward(x_values_, kShape, weight_, sum, GetParam().clamp, GetParam().frozen);
  rig_->backward();
  EXPECT_LT(distance(rig_->read_gradient(*x_), expected_->dx), tolerance());
  EXPECT_LT(distance(rig_->read_parameter_gradient("bn.weight"), expected_->weight_gradient), tolerance());
  EXPECT_LT(distance(rig_->read_parameter_gradient("bn.bias"), expected_->bias_gradient), tolerance());
  if (residual_ == nullptr) return;
  EXPECT_LT(distance(rig_->read_gradient(*residual_), expected_->masked), tolerance());
}

constexpr auto kF32 = spec::Precision::f32, kBf16 = spec::Precision::bf16;
constexpr auto kLast = Layout::channels_last;
INSTANTIATE_TEST_SUITE_P(
    All, NormOpTest,
    testing::Values(Case{"relu"}, Case{"plain", kNone}, Case{"relu6", kRelu6}, Case{"residual", kRelu, true},
                    Case{"plain_residual", kNone, true}, Case{"two_readers", kRelu, true, 2},
                    Case{"three_readers", kRelu, false, 3}, Case{"frozen", kRelu, false, 1, true},
                    Case{"frozen_residual", kRelu, true, 2, true}, Case{"threads", kRelu, false, 2, false, 3},
                    Case{"residual_threads", kRelu, true, 3, false, 3}, Case{"bf16", kRelu, false, 1, false, 1, kBf16},
                    Case{"bf16_residual", kRelu, true, 2, false, 3, kBf16},
                    Case{"channels_last", kRelu, false, 1, false, 1, kF32, kLast},
                    Case{"channels_last_residual", kRelu6, true, 3, false, 3, kF32, kLast},
                    Case{"channels_last_two_readers", kRelu, false, 2, false, 3, kF32, kLast},
                    Case{"channels_last_frozen", kNone, true, 1, true, 3, kF32, kLast},
                    Case{"channels_last_bf16", kRelu, true, 2, false, 3, kBf16, kLast}),
    [](const auto& instance) { return instance.param.name; });

// The norm writes channels 16 to 48 of 64: its part of a concatenation.
TEST(NormOp, WritesItsChannelsOfAWiderTensorAndReadsTheirGradientsAlone) {
  static constexpr TensorShape kWide{kShape.images, 64, kShape.height, kShape.width};
  const auto is_own = [](std::size_t i) { return channel_of(i, kWide) >= 16 && channel_of(i, kWide) < 48; };
  OpRig rig;
  Tensor &x = rig.tensor(kShape), &y = rig.tensor(kWide);
  std::vector<Tensor*> gradients;
  for (int i = 0; i < 4; ++i) gradients.push_back(&rig.gradient_of(y));
  const model::Layer layer{.name = "bn", .channels = kShape.channels, .epsilon = kEpsilon};
  rig.add<NormOp>(layer, rig.mode(), kRelu, x, nullptr, NormOp::Output{y, 16});
  rig.place();
  const Numbers x_values = rig.fill(x, "x", 0.5), before = rig.fill(y, "others");
  const Numbers weight = rig.load("bn.weight", 2.5), bias = rig.load("bn.bias");
  Numbers dy(x_values.size()), first;
  for (std::size_t reader = 0; reader < gradients.size(); ++reader) {
    const Numbers values = rig.fill(*gradients[reader], "dy" + std::to_string(reader));
    if (reader == 0) first = values;
    for (std::size_t i = 0, own = 0; i < values.size(); ++i) {
      if (is_own(i)) dy[own++] += values[i];
    }
  }
  Reference expected(x_values, kShape);
  expected.normalize(x_values, kShape, weight, bias, {}, kRelu);
  expected.backward(x_values, kShape, weight, dy, kRelu, false);
  rig.forward();
  Numbers written;
  const Numbers after = rig.read(y);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (is_own(i)) {
      written.push_back(after[i]);
    } else {
      ASSERT_EQ(after[i], before[i]) << "another norm's channel";
    }
  }
  EXPECT_LT(distance(written, expected.y), 3e-6);
  rig.backward();
  EXPECT_LT(distance(rig.read_gradient(x), expected.dx), 3e-6);
  const Numbers kept = rig.read(*gradients[0]);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!is_own(i)) {
      ASSERT_EQ(kept[i], first[i]) << "another norm's gradient";
    }
  }
}

// One tensor contains two maps; one norm reads the first map, another reads both. The reference concatenates them.
class DenseOpsTest : public testing::TestWithParam<std::tuple<int, Layout>> {
 protected:
  static constexpr TensorShape kMap{3, 16, 5, 7}, kBoth{3, 32, 5, 7};

  DenseOpsTest() {
    set_parallel_threads(std::get<int>(GetParam()));
    const auto layer = [](const char* name, int channels) {
      return model::Layer{.name = name, .channels = channels, .epsilon = kEpsilon};
    };
    rig_.add<DenseWriteOp>(block_, first_, 0);
    narrow_ = &rig_.add<DenseNormOp>(layer("narrow", 16), rig_.mode(), kRelu, block_, y_narrow_);
    rig_.add<DenseWriteOp>(block_, second_, 16);
    wide_ = &rig_.add<DenseNormOp>(layer("wide", 32), rig_.mode(), kRelu, block_, y_wide_);
    rig_.place();
    first_values_ = rig_.fill(first_, "first", 0.5);
    both_values_ = concatenated(first_values_, rig_.fill(second_, "second", -0.25));
    for (const char* name : {"narrow", "wide"}) {
      rig_.load(std::string(name) + ".weight", 2);
      rig_.load(std::string(name) + ".bias");
    }
    rig_.forward();
  }
  ~DenseOpsTest() override { set_parallel_threads(1); }

  static Numbers concatenated(const Numbers& a, const Numbers& b) {
    const std::size_t map = a.size() / 3;
    Numbers result;
    for (std::size_t image = 0; image < 3; ++image) {
      for (const Numbers* part : {&a, &b}) {
        result.insert(result.end(), part->data() + image * map, part->data() + (image + 1) * map);
      }
    }
    return result;
  }
  Reference reference(const std::string& name, const Numbers& x, const TensorShape& shape) {
    Reference result(x, shape);
    result.normalize(x, shape, rig_.load(name + ".weight", 2), rig_.load(name + ".bias"), {}, kRelu);
    return result;
  }

  OpRig rig_{spec::Precision::f32, std::get<Layout>(GetParam())};
  DenseBlock block_{rig_.planner(), kBoth};
  Tensor &first_ = rig_.tensor(kMap), &second_ = rig_.tensor(kMap);
  Tensor &y_narrow_ = rig_.tensor(kMap), &y_wide_ = rig_.tensor(kBoth);
  Tensor &dy_narrow_ = rig_.gradient_of(y_narrow_), &dy_wide_ = rig_.gradient_of(y_wide_);
  DenseNormOp *narrow_ = nullptr, *wide_ = nullptr;
  Numbers first_values_, both_values_;
};

TEST_P(DenseOpsTest, MapsLieSideBySideInTheBlockAndNormsReadPrefixesOfIt) {
  EXPECT_EQ(rig_.read(block_.features), both_values_);
  const Reference narrow = reference("narrow", first_values_, kMap), wide = reference("wide", both_values_, kBoth);
  EXPECT_LT(distance(rig_.read(y_narrow_), narrow.y), 3e-6);
  EXPECT_LT(distance(rig_.read(y_wide_), wide.y), 3e-6);
}

TEST_P(DenseOpsTest, EveryNormKeepsItsOwnRunningStatistics) {
  const Reference wide(both_values_, kBoth);
  Numbers mean, variance;
  for (std::size_t c = 0; c < 32; ++c) {
    mean.push_back(0.1 * wide.mean[c]);
    variance.push_back(0.9 + 0.1 * wide.unbiased[c]);
  }
  EXPECT_LT(distance(buffer(*wide_, 0), mean), 3e-6);
  EXPECT_LT(distance(buffer(*wide_, 1), variance), 3e-6);
  EXPECT_LT(distance(buffer(*narrow_, 0), Numbers(mean.begin(), mean.begin() + 16)), 3e-6);
}

TEST_P(DenseOpsTest, BackwardSumsOverTheNormsThatReadAMap) {
  const Numbers dy_narrow = rig_.fill(dy_narrow_, "dy_narrow"), dy_wide = rig_.fill(dy_wide_, "dy_wide");
  Reference narrow = reference("narrow", first_values_, kMap), wide = reference("wide", both_values_, kBoth);
  narrow.backward(first_values_, kMap, rig_.load("narrow.weight", 2), dy_narrow, kRelu, false);
  wide.backward(both_values_, kBoth, rig_.load("wide.weight", 2), dy_wide, kRelu, false);
  Numbers expected = concatenated(narrow.dx, Numbers(narrow.dx.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += wide.dx[i];
  // Runs it twice, since the sums of a step must not carry over to the next one.
  for (int step = 0; step < 2; ++step) rig_.backward();
  EXPECT_LT(distance(concatenated(rig_.read_gradient(first_), rig_.read_gradient(second_)), expected), 3e-6);
  EXPECT_LT(distance(rig_.read_parameter_gradient("narrow.weight"), narrow.weight_gradient), 3e-6);
  EXPECT_LT(distance(rig_.read_parameter_gradient("wide.weight"), wide.weight_gradient), 3e-6);
}

INSTANTIATE_TEST_SUITE_P(ThreadsAndLayouts, DenseOpsTest,
                         testing::Combine(testing::Values(1, 3), testing::Values(Layout::blocked, kLast)));

}  // namespace
}  // namespace chexbench::engine::onednn
