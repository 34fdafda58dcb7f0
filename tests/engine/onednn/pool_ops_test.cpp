// Compares pools with the loops of their definition, computed in double.
#include "engine/onednn/pool_ops.hpp"

#include <gtest/gtest.h>

#include "op_rig.hpp"

namespace chexbench::engine::onednn {
namespace {

struct Case {
  std::string name;
  bool max;
  int kernel, stride, padding = 0;
  spec::Precision precision = spec::Precision::f32;
  Layout layout = Layout::blocked;
};

constexpr TensorShape kShape{3, 32, 7, 10};
constexpr int kReaders = 2;

class PoolOpTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    if (const std::string reason = reason_to_skip(c.precision); !reason.empty()) GTEST_SKIP() << reason;
    rig_ = std::make_unique<OpRig>(c.precision, c.layout);
    const auto windows = [&](int size) { return (size + 2 * c.padding - c.kernel) / c.stride + 1; };
    x_ = &rig_->tensor(kShape);
    y_ = &rig_->tensor({kShape.images, kShape.channels, windows(kShape.height), windows(kShape.width)});
    for (int i = 0; i < kReaders; ++i) dy_.push_back(&rig_->gradient_of(*y_));
    const auto kind = c.max ? model::LayerKind::max_pool : model::LayerKind::average_pool;
    rig_->add<PoolOp>(model::Layer{.kind = kind, .kernel = c.kernel, .stride = c.stride, .padding = c.padding}, *x_,
                      *y_);
    rig_->place();
  }
  static double tolerance() { return GetParam().precision == spec::Precision::bf16 ? 1.2e-2 : 1e-6; }

  // Returns the elements of x in the window of element `out` of y, row by row.
  std::vector<std::size_t> window(std::size_t out) const {
    const Case& c = GetParam();
    const auto place = static_cast<int>(out % static_cast<std::size_t>(y_->shape.pixels()));
    const std::size_t plane = out / static_cast<std::size_t>(y_->shape.pixels());
    const int top = place / y_->shape.width * c.stride - c.padding;
    const int left = place % y_->shape.width * c.stride - c.padding;
    std::vector<std::size_t> inside;
    for (int row = std::max(0, top); row < std::min(kShape.height, top + c.kernel); ++row) {
      for (int column = std::max(0, left); column < std::min(kShape.width, left + c.kernel); ++column) {
        inside.push_back(plane * static_cast<std::size_t>(kShape.pixels()) +
                         static_cast<std::size_t>(row * kShape.width + column));
      }
    }
    return inside;
  }
  // Computes forward, and backward of `dy`, like PyTorch: the first of equal maxima wins, and an average counts the
  // padding.
  void compute(const Numbers& x, const Numbers& dy, Numbers& y, Numbers& dx) const {
    dx.assign(x.size(), 0);
    const double share = 1.0 / (GetParam().kernel * GetParam().kernel);
    for (std::size_t out = 0; out < dy.size(); ++out) {
      const std::vector<std::size_t> inside = window(out);
      double sum = 0;
      std::size_t best = inside.front();
      for (const std::size_t i : inside) {
        sum += x[i];
        if (x[i] > x[best]) best = i;
        if (!GetParam().max) dx[i] += share * dy[out];
      }
      if (GetParam().max) dx[best] += dy[out];
      y.push_back(GetParam().max ? x[best] : share * sum);
    }
  }
  void expect_agreement(const Numbers& x) {
    Numbers dy, y, dx;
    for (int reader = 0; reader < kReaders; ++reader) {
      const Numbers values = rig_->fill(*dy_[static_cast<std::size_t>(reader)], "dy" + std::to_string(reader));
      dy.resize(values.size());
      for (std::size_t i = 0; i < dy.size(); ++i) dy[i] += values[i];
    }
    compute(x, dy, y, dx);
    rig_->forward();
    EXPECT_LT(distance(rig_->read(*y_), y), tolerance());
    rig_->backward();
    EXPECT_LT(distance(rig_->read_gradient(*x_), dx), tolerance());
  }

  std::unique_ptr<OpRig> rig_;
  Tensor *x_ = nullptr, *y_ = nullptr;
  std::vector<Tensor*> dy_;
};

TEST_P(PoolOpTest, AgreesWithThePlainLoops) { expect_agreement(rig_->fill(*x_, "x")); }

// A max pool that took the padding for zeros would find it larger than all values.
TEST_P(PoolOpTest, IgnoresThePaddingWhereAllIsNegative) { expect_agreement(rig_->fill(*x_, "x", -2)); }

TEST_P(PoolOpTest, GivesTheGradientOfEqualMaximaToTheFirst) {
  std::vector<float> values(static_cast<std::size_t>(kShape.images * kShape.channels * kShape.pixels()));
  model::fill_formula_labels("op", "ties", values);
  rig_->write(*x_, values);
  expect_agreement(numbers(values));
}

constexpr auto kLast = Layout::channels_last;
INSTANTIATE_TEST_SUITE_P(
    All, PoolOpTest,
    testing::Values(Case{"max_3x3", true, 3, 2, 1}, Case{"max_2x2", true, 2, 2}, Case{"max_overlapping", true, 3, 1, 1},
                    Case{"average_2x2", false, 2, 2}, Case{"average_padded", false, 3, 2, 1},
                    Case{"bf16_max_3x3", true, 3, 2, 1, spec::Precision::bf16},
                    Case{"bf16_average_2x2", false, 2, 2, 0, spec::Precision::bf16},
                    Case{"channels_last_max_3x3", true, 3, 2, 1, spec::Precision::f32, kLast},
                    Case{"channels_last_average_2x2", false, 2, 2, 0, spec::Precision::bf16, kLast}),
    [](const auto& instance) { return instance.param.name; });

class GlobalAverageOpTest : public testing::TestWithParam<Layout> {};

TEST_P(GlobalAverageOpTest, AveragesThePixelsAndSpreadsTheGradient) {
  OpRig rig(spec::Precision::f32, GetParam());
  Tensor &x = rig.tensor(kShape), &y = rig.tensor({3, 32}, Layout::flat), &dy = rig.gradient_of(y);
  rig.add<GlobalAverageOp>(x, y);
  rig.place();
  const Numbers x_values = rig.fill(x, "x"), dy_values = rig.fill(dy, "dy");
  Numbers mean(dy_values.size()), dx(x_values.size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    mean[i / 70] += x_values[i] / 70;
    dx[i] = dy_values[i / 70] / 70;
  }
  rig.forward();
  EXPECT_LT(distance(rig.read(y), mean), 3e-6);
  rig.backward();
  EXPECT_LT(distance(rig.read_gradient(x), dx), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Layouts, GlobalAverageOpTest, testing::Values(Layout::blocked, kLast));

// Adaptive average pools that are flattened, compared with PyTorch's definition of their windows.
struct FlattenCase {
  std::string name;
  TensorShape shape;
  int size;
  spec::Precision precision = spec::Precision::f32;
  Layout layout = Layout::blocked;
};

class FlattenOpTest : public testing::TestWithParam<FlattenCase> {};

// Returns the elements of x, as indices in NCHW order, whose mean is element `i` of `size` x `size` outputs per
// channel.
std::vector<std::size_t> flattened_window(std::size_t i, const TensorShape& shape, int size) {
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
  const FlattenCase& c = GetParam();
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
    const std::vector<std::size_t> inside = flattened_window(i, c.shape, c.size);
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

INSTANTIATE_TEST_SUITE_P(All, FlattenOpTest,
                         testing::Values(FlattenCase{"same_size", {3, 32, 6, 6}, 6},
                                         FlattenCase{"overlapping", {3, 32, 7, 9}, 6},
                                         FlattenCase{"dividing", {2, 16, 12, 6}, 6},
                                         FlattenCase{"enlarging", {2, 16, 1, 2}, 6},
                                         FlattenCase{"part_of_a_vector", {2, 24, 7, 7}, 6},
                                         FlattenCase{"bf16", {2, 32, 7, 9}, 6, spec::Precision::bf16},
                                         FlattenCase{"channels_last", {2, 32, 7, 9}, 6, spec::Precision::f32, kLast}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace chexbench::engine::onednn
