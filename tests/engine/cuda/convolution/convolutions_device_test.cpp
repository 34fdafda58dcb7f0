// Compares convolutions on a GPU with plain loops. Skipped if there is no GPU.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "core/errors.hpp"
#include "engine/cuda/convolution/convolutions.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace chexbench::engine::cuda {
namespace {

using kernels::Half;

constexpr ConvShape kShape{.images = 2,
                           .in_channels = 64,
                           .height = 8,
                           .width = 8,
                           .out_channels = 32,
                           .kernel = 3,
                           .stride = 1,
                           .padding = 1,
                           .in_pixel_stride = 64,
                           .out_pixel_stride = 32};

constexpr ConvShape kDepthwise{.images = 2,
                               .in_channels = 64,
                               .height = 8,
                               .width = 8,
                               .out_channels = 64,
                               .kernel = 3,
                               .stride = 2,
                               .padding = 1,
                               .groups = 64,
                               .in_pixel_stride = 64,
                               .out_pixel_stride = 64};

std::optional<std::string> why_no_device() {
  try {
    require_device();
    return {};
  } catch (const DeviceError& error) {
    return error.what();
  }
}

TEST(ConvolutionsWithoutADevice, SayWhatIsMissing) {
  const std::optional<std::string> reason = why_no_device();
  if (!reason) GTEST_SKIP() << "there is a GPU";
  try {
    Convolutions({kShape}, {});
    ADD_FAILURE() << "made";
  } catch (const DeviceError& error) {
    EXPECT_EQ(error.what(), *reason);
  }
}

// fp16 values on the device, and the same values on the host.
class Tensor {
 public:
  explicit Tensor(std::size_t count) : values_(count), memory_(count * sizeof(Half)) {}

  void draw(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<Half> halves(values_.size());
    for (std::size_t i = 0; i < halves.size(); ++i) {
      halves[i] = kernels::to_half(uniform(random));
      values_[i] = kernels::to_float(halves[i]);
    }
    EXPECT_EQ(cudaMemcpy(data(), halves.data(), halves.size() * sizeof(Half), cudaMemcpyHostToDevice), cudaSuccess);
  }
  std::vector<float> result() const {
    std::vector<Half> halves(values_.size());
    EXPECT_EQ(cudaMemcpy(halves.data(), data(), halves.size() * sizeof(Half), cudaMemcpyDeviceToHost), cudaSuccess);
    std::vector<float> result;
    for (const Half half : halves) result.push_back(kernels::to_float(half));
    return result;
  }
  float at(std::size_t i) const { return values_[i]; }
  void* data() const { return memory_.data(); }

 private:
  std::vector<float> values_;
  DeviceMemory memory_;
};

// Calls use(x's index, w's index, y's index) for each product of the convolution.
template <typename Use>
void each_product(const ConvShape& s, const Use& use) {
  const int ins = s.group_channels(), outs = s.group_outputs();
  for (int n = 0; n < s.images; ++n)
    for (int row = 0; row < s.out_height(); ++row)
      for (int column = 0; column < s.out_width(); ++column)
        for (int dr = 0; dr < s.kernel; ++dr)
          for (int dc = 0; dc < s.kernel; ++dc) {
            const int in_row = row * s.stride + dr - s.padding, in_column = column * s.stride + dc - s.padding;
            if (in_row < 0 || in_row >= s.height || in_column < 0 || in_column >= s.width) continue;
            const std::size_t in = ((n * s.height + in_row) * s.width + in_column) * s.in_channels;
            const std::size_t out = ((n * s.out_height() + row) * s.out_width() + column) * s.out_channels;
            for (int k = 0; k < s.out_channels; ++k)
              for (int c = 0; c < ins; ++c)
                use(in + k / outs * ins + c, ((k * s.kernel + dr) * s.kernel + dc) * ins + c, out + k);
          }
}

void expect_near(const std::vector<float>& got, const std::vector<double>& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::pow(static_cast<double>(got[i]) - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-3);
}

class ConvolutionsOnADevice : public testing::Test {
 protected:
  static constexpr std::size_t kX = 2 * 8 * 8 * 64, kW = 32 * 3 * 3 * 64, kY = 2 * 8 * 8 * 32;  // Of kShape.

  void SetUp() override {
    if (const auto reason = why_no_device()) GTEST_SKIP() << *reason;
  }
};

void expect_plain_loops(const ConvShape& shape) {
  const auto count = [](int pixels, int channels) { return static_cast<std::size_t>(pixels * channels); };
  const std::size_t xs = count(shape.images * shape.height * shape.width, shape.in_channels);
  const std::size_t ys = count(shape.images * shape.out_height() * shape.out_width(), shape.out_channels);
  const std::size_t ws = count(shape.out_channels * shape.kernel * shape.kernel, shape.group_channels());
  Convolutions convolutions({shape}, {.precision = spec::Precision::fp16});
  const DeviceMemory workspace(convolutions.workspace_bytes() + 1);
  convolutions.use_workspace(workspace.data());
  Tensor x(xs), w(ws), y(ys), dx(xs), dw(ws), dy(ys);
  x.draw(1);
  w.draw(2);
  dy.draw(3);
  convolutions.forward(shape, x.data(), w.data(), y.data(), {}, {}, nullptr);
  convolutions.data_gradient(shape, dy.data(), w.data(), dx.data(), {}, nullptr);
  convolutions.weight_gradient(shape, x.data(), dy.data(), dw.data(), {}, nullptr);
  std::vector<double> expected_y(ys), expected_dx(xs), expected_dw(ws);
  each_product(shape, [&](std::size_t i, std::size_t j, std::size_t k) {
    expected_y[k] += static_cast<double>(x.at(i)) * w.at(j);
    expected_dx[i] += static_cast<double>(dy.at(k)) * w.at(j);
    expected_dw[j] += static_cast<double>(x.at(i)) * dy.at(k);
  });
  expect_near(y.result(), expected_y);
  expect_near(dx.result(), expected_dx);
  expect_near(dw.result(), expected_dw);
}

TEST_F(ConvolutionsOnADevice, AgreeWithPlainLoops) { expect_plain_loops(kShape); }

TEST_F(ConvolutionsOnADevice, AgreeWithPlainLoopsWhereTheyAreDepthwise) { expect_plain_loops(kDepthwise); }

TEST_F(ConvolutionsOnADevice, SumsAreThoseOfTheOutput) {
  Convolutions convolutions({kShape}, {.precision = spec::Precision::fp16});
  if (!convolutions.has(kShape, ConvPattern::forward_statistics))
    GTEST_SKIP() << "a pass for statistics is faster here";
  const DeviceMemory workspace(convolutions.workspace_bytes() + 1), sums(2 * 32 * sizeof(float));
  convolutions.use_workspace(workspace.data());
  Tensor x(kX), w(kW), y(kY);
  x.draw(1);
  w.draw(2);
  float* const sum = static_cast<float*>(sums.data());
  convolutions.forward(kShape, x.data(), w.data(), y.data(), {sum, sum + 32}, {}, nullptr);
  std::vector<float> got(64);
  ASSERT_EQ(cudaMemcpy(got.data(), sum, got.size() * sizeof(float), cudaMemcpyDeviceToHost), cudaSuccess);
  std::vector<double> expected(64);
  const std::vector<float> output = y.result();
  for (std::size_t i = 0; i < output.size(); ++i) {
    expected[i % 32] += output[i];
    expected[32 + i % 32] += std::pow(output[i], 2);
  }
  expect_near(got, expected);
}

}  // namespace
}  // namespace chexbench::engine::cuda
