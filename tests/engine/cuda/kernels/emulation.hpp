// Tensors for tests of the kernels' operations. Their rows are wider than needed, and they detect writes to the rest.
// The operations run on the host (host_run.hpp).
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "engine/cuda/kernels/element.hpp"
#include "host_run.hpp"

namespace chexbench::engine::cuda::kernels {

// An element type T and the number V of elements that move together.
template <typename T, int V>
struct Moved {
  using Type = T;
  static constexpr int kWidth = V;
};
using AllMoves = testing::Types<Moved<float, 4>, Moved<float, 1>, Moved<Half, 8>, Moved<Half, 1>, Moved<BFloat16, 8>,
                                Moved<BFloat16, 1>>;

// Returns a few times the error of one rounding to T.
template <typename T>
double tolerance() {
  return std::is_same_v<T, float> ? 4e-6 : std::is_same_v<T, Half> ? 2e-3 : 1.6e-2;
}

inline constexpr float kGuard = 96.0f;  // Exact in all types.

// A tensor with `channels` channels, starting at element `first` of rows of `ld` elements.
template <typename T>
class Tensor {
 public:
  Tensor(int rows, int channels, int ld = 0, int first = 0)
      : rows_(rows), channels_(channels), ld_(ld == 0 ? channels : ld), first_(first) {
    memory_.assign(static_cast<std::size_t>(rows_) * ld_, Element<T>::narrow(kGuard));
  }
  int rows() const { return rows_; }
  int channels() const { return channels_; }
  T& at(int row, int channel) { return memory_[static_cast<std::size_t>(row) * ld_ + first_ + channel]; }
  double operator()(int row, int channel) const {
    return static_cast<double>(Element<T>::widen(memory_[static_cast<std::size_t>(row) * ld_ + first_ + channel]));
  }
  Rows<T> view() { return {memory_.data() + first_, ld_}; }
  Rows<const T> view() const { return {memory_.data() + first_, ld_}; }

  Tensor& fill(const std::function<double(int row, int channel)>& value) {
    for (int row = 0; row < rows_; ++row) {
      for (int c = 0; c < channels_; ++c) at(row, c) = Element<T>::narrow(static_cast<float>(value(row, c)));
    }
    return *this;
  }
  Tensor& randomize(unsigned seed, double mean = 0, double deviation = 1) {
    std::mt19937 engine(seed);
    std::normal_distribution<double> values(mean, deviation);
    return fill([&](int, int) { return values(engine); });
  }
  void expect_guards_untouched() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const int column = static_cast<int>(i % static_cast<std::size_t>(ld_));
      if (column >= first_ && column < first_ + channels_) continue;
      ASSERT_EQ(Element<T>::widen(memory_[i]), kGuard) << "element " << i;
    }
  }

 private:
  int rows_, channels_, ld_, first_;
  std::vector<T> memory_;
};

inline std::vector<float> random_values(int count, unsigned seed, float low, float high) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> result(static_cast<std::size_t>(count));
  for (float& value : result) value = values(engine);
  return result;
}

}  // namespace chexbench::engine::cuda::kernels
