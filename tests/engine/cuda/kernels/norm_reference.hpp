// Reference for batch norm with residual and activation, forward and backward, in plain double arithmetic.
#pragma once

#include <cmath>

#include "emulation.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr Clamp kNone{-kInfinity, kInfinity}, kRelu{0, kInfinity}, kRelu6{0, 6};
inline constexpr float kEpsilon = 1e-3f;

// Random parameters, and the statistics of x, for each channel of x.
struct NormState {
  std::vector<float> mean, variance, weight, bias;

  template <typename T>
  explicit NormState(const Tensor<T>& x)
      : mean(static_cast<std::size_t>(x.channels())),
        variance(mean),
        weight(random_values(x.channels(), 71, 0.5f, 1.5f)),
        bias(random_values(x.channels(), 72, -0.5f, 0.5f)) {
    for (int c = 0; c < x.channels(); ++c) {
      double sum = 0, squares = 0;
      for (int row = 0; row < x.rows(); ++row) sum += x(row, c);
      const double average = sum / x.rows();
      for (int row = 0; row < x.rows(); ++row) squares += (x(row, c) - average) * (x(row, c) - average);
      mean[static_cast<std::size_t>(c)] = static_cast<float>(average);
      variance[static_cast<std::size_t>(c)] = static_cast<float>(squares / x.rows());
    }
    weight[0] = -weight[0];  // Nothing may depend on its sign.
  }
  NormParameters parameters() const { return {mean.data(), variance.data(), weight.data(), bias.data(), kEpsilon}; }

  double inverse(int c) const {
    return 1 / std::sqrt(static_cast<double>(variance[static_cast<std::size_t>(c)]) + static_cast<double>(kEpsilon));
  }
  double centred(double x, int c) const { return x - static_cast<double>(mean[static_cast<std::size_t>(c)]); }
  double gamma(int c) const { return static_cast<double>(weight[static_cast<std::size_t>(c)]); }
  // Returns the value before the activation.
  double normalized(double x, int c) const {
    return gamma(c) * centred(x, c) * inverse(c) + static_cast<double>(bias[static_cast<std::size_t>(c)]);
  }
};

inline double activated(double value, Clamp clamp) {
  return std::fmin(std::fmax(value, static_cast<double>(clamp.low)), static_cast<double>(clamp.high));
}

inline bool passes(double value, Clamp clamp) {
  return value > static_cast<double>(clamp.low) && value < static_cast<double>(clamp.high);
}

// Backward of one channel; g is the gradient that passes the activation.
struct ChannelGradient {
  double weight = 0, bias = 0;
  std::vector<double> dx;

  template <typename T>
  ChannelGradient(const NormState& norm, const Tensor<T>& x, int c, const std::vector<double>& g, bool frozen = false)
      : dx(g.size()) {
    const double inverse = norm.inverse(c), count = x.rows();
    for (int row = 0; row < x.rows(); ++row) {
      const double value = g[static_cast<std::size_t>(row)];
      bias += value;
      weight += value * norm.centred(x(row, c), c) * inverse;
    }
    for (int row = 0; row < x.rows(); ++row) {
      const double of_statistics = (bias + norm.centred(x(row, c), c) * inverse * weight) / count;
      const auto i = static_cast<std::size_t>(row);
      dx[i] = norm.gamma(c) * inverse * (g[i] - (frozen ? 0 : of_statistics));
    }
  }
};

}  // namespace chexbench::engine::cuda::kernels
