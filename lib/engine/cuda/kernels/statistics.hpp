// Mean and variance of each channel, and the running statistics.
#pragma once

#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

// Mean and sum of squared deviations of two sets of values together: Chan, Golub and LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances", 1979. `share` is b's of all values; a has count_a.
CHEXBENCH_HOST_DEVICE inline Pair merged_moments(Pair a, float count_a, Pair b, float share) {
  const float distance = b.first - a.first;
  return {a.first + distance * share, a.second + b.second + distance * distance * share * count_a};
}

// First stage: Pair is mean and sum of squared deviations. A thread sums differences to its first row, because sums of
// x and x^2 as they are lose the variance where the mean is far larger.
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
  };

  CHEXBENCH_HOST_DEVICE Totals<V> sum(const ChannelGrid& grid, const Lane& lane) const {
    Worker worker(*this, lane);
    for_rows(grid, lane.row, worker);
    const float share = 1.0f / static_cast<float>(grid.rows_from(lane.row));
    Totals<V> totals;
    for (int i = 0; i < V; ++i) {
      const float mean = worker.sum[i] * share;
      const float deviations = worker.squares[i] - worker.sum[i] * mean;
      totals.at[i] = {worker.shift[i] + mean, deviations < 0 ? 0.0f : deviations};  // rounding; NaN stays NaN
    }
    return totals;
  }
  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float count_a, Pair b, float share) {
    return merged_moments(a, count_a, b, share);
  }
};

// Second stage: mean and biased variance. Plain sums do here: double holds the square of a mean 10^5 deviations away.
struct StatisticsFinish {
  double count = 0;  // rows
  float* mean = nullptr;
  float* variance = nullptr;

  CHEXBENCH_HOST_DEVICE static DoublePair term(Pair partial, int count) {
    const double mean = static_cast<double>(partial.first);
    return {count * mean, static_cast<double>(partial.second) + count * mean * mean};
  }
  CHEXBENCH_HOST_DEVICE void write(int channel, DoublePair sum) const {
    const double average = sum.first / count, spread = sum.second / count - average * average;
    mean[channel] = static_cast<float>(average);
    variance[channel] = static_cast<float>(spread < 0 ? 0.0 : spread);
  }
};

// The same from sums of x and x^2, which a convolution gave along with its output: one call for each channel.
struct MomentsOfSums {
  const float* sum = nullptr;
  const float* sum_of_squares = nullptr;
  StatisticsFinish finish;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    finish.write(static_cast<int>(channel),
                 {static_cast<double>(sum[channel]), static_cast<double>(sum_of_squares[channel])});
  }
};

// The running statistics of all batch norms at once, a channel each: one launch a step instead of one a layer. Several
// norms of a dense block share the statistics of a channel, so each names the ones that it normalized by.
struct RunningUpdate {
  static constexpr float kMomentum = 0.1f;
  const float* mean = nullptr;      // of the batch, all layers'
  const float* variance = nullptr;  // biased
  const int* source = nullptr;      // for each running channel, its place in `mean` and `variance`
  const float* unbias = nullptr;    // for each running channel, n / (n - 1): PyTorch's running variance is unbiased
  float* running_mean = nullptr;
  float* running_variance = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t i) const {
    const int from = source[i];
    running_mean[i] += kMomentum * (mean[from] - running_mean[i]);
    running_variance[i] += kMomentum * (variance[from] * unbias[i] - running_variance[i]);
  }
};

}  // namespace chexbench::engine::cuda::kernels
