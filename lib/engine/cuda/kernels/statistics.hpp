// Mean and variance of each channel, and the running statistics.
#pragma once

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

// Merges mean and sum of squared deviations of two sets of values: Chan, Golub and LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances", 1979. a has count_a values; `share` is b's share of all values.
CHEXBENCH_HOST_DEVICE inline Pair merged_moments(Pair a, float count_a, Pair b, float share) {
  const float distance = b.first - a.first;
  return {a.first + distance * share, a.second + b.second + distance * distance * share * count_a};
}

// First stage; a Pair is the mean and the sum of squared deviations. A thread sums differences to its first row,
// because plain sums of x and x^2 lose the variance if the mean is far larger than the deviation.
template <typename T, int V>
struct Statistics {
  static constexpr int kWidth = V;
  Rows<const T> x;

  struct Worker {
    static constexpr int kUnroll = 4;
    typedef Pack<T, V> Loaded;
    const Rows<const T> x;
    const int channel;
    float shift[V], sum[V], squares[V];

    CHEXBENCH_HOST_DEVICE Worker(const Statistics& op, const Lane& lane) : x(op.x), channel(lane.channel) {
      const Loaded first = load(lane.row);
      for (int i = 0; i < V; ++i) {
        shift[i] = widened(first, i);
        sum[i] = squares[i] = 0;
      }
    }
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return kernels::load<V>(x.at(row, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int, const Loaded& values) {
      for (int i = 0; i < V; ++i) {
        const float difference = widened(values, i) - shift[i];
        sum[i] += difference;
        squares[i] += difference * difference;
      }
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int rows) const {
      const float share = 1.0f / static_cast<float>(rows);
      Totals<V> totals;
      for (int i = 0; i < V; ++i) {
        const float mean = sum[i] * share;
        const float deviations = squares[i] - sum[i] * mean;
        totals.at[i] = {shift[i] + mean, deviations < 0 ? 0.0f : deviations};  // Rounding errors; NaN stays NaN.
      }
      return totals;
    }
  };

  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float count_a, Pair b, float share) {
    return merged_moments(a, count_a, b, share);
  }
};

// Second stage: computes mean and biased variance. Plain sums suffice here, because double has enough digits for the
// square of a mean that is 10^5 deviations from 0.
struct StatisticsFinish {
  double count = 0;  // Rows.
  float* mean = nullptr;
  float* variance = nullptr;
  // If given, 1 / sqrt(variance + epsilon) is written too, for a data gradient that takes the norm.
  float* inverse_deviation = nullptr;
  float epsilon = 0;

  CHEXBENCH_HOST_DEVICE static DoublePair term(Pair partial, int count) {
    const double mean = static_cast<double>(partial.first);
    return {count * mean, static_cast<double>(partial.second) + count * mean * mean};
  }
  CHEXBENCH_HOST_DEVICE void write(int channel, DoublePair sum) const {
    const double average = sum.first / count, spread = sum.second / count - average * average;
    mean[channel] = static_cast<float>(average);
    const auto biased = static_cast<float>(spread < 0 ? 0.0 : spread);
    variance[channel] = biased;
    if (inverse_deviation != nullptr) inverse_deviation[channel] = kernels::inverse_deviation(biased, epsilon);
  }
};

// Computes the same from sums of x and x^2 that a convolution returned along with its output. Called once per channel.
struct MomentsOfSums {
  const float* sum = nullptr;
  const float* sum_of_squares = nullptr;
  StatisticsFinish finish;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    finish.write(static_cast<int>(channel),
                 {static_cast<double>(sum[channel]), static_cast<double>(sum_of_squares[channel])});
  }
};

// Updates the running statistics of all batch norms, one channel per call: one launch per step instead of one per
// layer. Several norms of a dense block share the statistics of a channel, so `source` maps each to the statistics that
// it used.
struct RunningUpdate {
  static constexpr float kMomentum = 0.1f;
  const float* mean = nullptr;      // Of the batch, for all layers.
  const float* variance = nullptr;  // Biased.
  const int* source = nullptr;      // For each running channel, its index in `mean` and `variance`.
  const float* unbias = nullptr;    // For each running channel, n / (n - 1): PyTorch's running variance is unbiased.
  float* running_mean = nullptr;
  float* running_variance = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const int from = source[i];
    running_mean[i] += kMomentum * (mean[from] - running_mean[i]);
    running_variance[i] += kMomentum * (variance[from] * unbias[i] - running_variance[i]);
  }
};

}  // namespace chexbench::engine::cuda::kernels
