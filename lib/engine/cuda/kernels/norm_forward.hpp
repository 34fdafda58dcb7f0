// Forward pass of batch norm: y = clamp(weight (x - mean) / deviation + bias (+ residual)), and before it mean and
// variance of each channel. Source: Ioffe and Szegedy, "Batch normalization", ICML 2015.
//
// In all calls `scratch` has reduction_scratch_bytes() (channel_sums.hpp), whose first kTicketBytes were set to 0 once;
// one scratch serves all calls on one stream.
#pragma once

#include <cmath>

#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

// An activation, the same as in the CPU engine: y = min(max(v, low), high). ReLU is (0, infinity); no activation is
// (-infinity, infinity).
struct Clamp {
  float low = 0;
  float high = 0;
};

// Returns the clamped value. Comparisons with NaN are false, so in this form NaN stays NaN, as in PyTorch: a failed
// training must be visible.
CHEXBENCH_HOST_DEVICE inline float clamped(float value, Clamp clamp) {
  value = value < clamp.low ? clamp.low : value;
  return value > clamp.high ? clamp.high : value;
}

// Returns the gradient if low < value < high or if value is NaN, else 0.
CHEXBENCH_HOST_DEVICE inline float passed(float gradient, float value, Clamp clamp) {
  return value <= clamp.low || value >= clamp.high ? 0.0f : gradient;
}

// Arrays in device memory, indexed by channel of the slice. Frozen norms pass their running statistics. Kernels that
// move tensors in vectors need these arrays aligned to 16 bytes, too (dispatch.hpp).
struct NormParameters {
  const float* mean = nullptr;
  const float* variance = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;
  float epsilon = 0;
};

CHEXBENCH_HOST_DEVICE inline float inverse_deviation(float variance, float epsilon) {
  return rsqrtf(variance + epsilon);
}

// Per-channel values of one thread. The constructor issues all loads before any value is used; a loop that also
// computed would prevent that. They are loaded 16 bytes at a time: single values of eight channels to a thread would
// touch each line of the array eight times, while all threads of the device wait to begin.
template <int V>
struct Channels {
  float at[V];

  CHEXBENCH_HOST_DEVICE Channels(const float* array, int channel) {
    constexpr int kMoved = V < kVectorWidth<float> ? V : kVectorWidth<float>;
    for (int i = 0; i < V; i += kMoved) {
      const Pack<float, kMoved> values = load<kMoved>(array + channel + i);
      for (int j = 0; j < kMoved; ++j) at[i + j] = values.at[j];
    }
  }
};

// The norm as scale * x + shift. Each thread computes scale and shift itself, which is cheaper than a kernel that
// writes them for all. Backward must get the same bits to decide which values passed the activation; fmaf is explicit
// so that the choice to fuse is not the compiler's.
template <int V>
struct Affine {
  float scale[V], shift[V];

  CHEXBENCH_HOST_DEVICE Affine(const NormParameters& norm, int channel) {
    const Channels<V> variance(norm.variance, channel), weight(norm.weight, channel), mean(norm.mean, channel),
        bias(norm.bias, channel);
    for (int i = 0; i < V; ++i) {
      scale[i] = weight.at[i] * inverse_deviation(variance.at[i], norm.epsilon);
      shift[i] = fmaf(-mean.at[i], scale[i], bias.at[i]);
    }
  }
  CHEXBENCH_HOST_DEVICE float operator()(int i, float x) const { return fmaf(scale[i], x, shift[i]); }
};

template <typename T, int V, bool kResidual>
struct Normalize {
  Rows<const T> x;
  Rows<const T> residual;
  Rows<T> y;
  NormParameters norm;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = kResidual ? 2 : 4;
    struct Loaded {
      Pack<T, V> x, residual;
    };
    const Normalize& op;
    const int channel;
    const Affine<V> affine;

    CHEXBENCH_HOST_DEVICE Worker(const Normalize& normalize, int first)
        : op(normalize), channel(first), affine(normalize.norm, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      Loaded loaded;
      loaded.x = kernels::load<V>(op.x.at(row, channel));
      if constexpr (kResidual) loaded.residual = kernels::load<V>(op.residual.at(row, channel));
      return loaded;
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        float value = affine(i, widened(loaded.x, i));
        if constexpr (kResidual) value += widened(loaded.residual, i);
        result.at[i] = Element<T>::narrow(clamped(value, op.clamp));
      }
      store(op.y.at(row, channel), result);
    }
  };
};

// Computes y = clamp(norm(x) + residual); the residual is optional. y may be x or the residual.
struct NormalizeCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, residual, y;
  NormParameters norm;
  Clamp clamp;
};
void launch_normalize(const NormalizeCall& call, Stream stream);

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

// Computes the scale and shift, in the element type, of a batch norm that a convolution fuses in forward. Called once
// for each channel.
template <typename T>
struct WriteAffine {
  NormParameters norm;
  T* scale = nullptr;
  T* shift = nullptr;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    const Affine<1> affine(norm, static_cast<int>(channel));
    scale[channel] = Element<T>::narrow(affine.scale[0]);
    shift[channel] = Element<T>::narrow(affine.shift[0]);
  }
};

// Computes mean and variance, and then scale and shift of the norm that has them. Called once for each channel.
template <typename T>
struct MomentsAndAffine {
  MomentsOfSums moments;
  WriteAffine<T> affine;

  CHEXBENCH_HOST_DEVICE void operator()(std::int64_t channel) const {
    moments(channel);
    affine(channel);  // reads values that this thread has just written
  }
};

// Computes mean and biased variance, f32[channels] each, of the rows of x; and 1 / sqrt(variance + epsilon) if its
// pointer is not null.
struct StatisticsCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x;
  float* mean = nullptr;
  float* variance = nullptr;
  float* inverse_deviation = nullptr;
  float epsilon = 0;
  void* scratch = nullptr;
};
void launch_statistics(const StatisticsCall& call, Stream stream);

// Computes mean and biased variance of `channels` channels from the sums that a convolution returned.
void launch_moments(const MomentsOfSums& moments, int channels, Stream stream);

// Updates the running statistics of `channels` channels, those of all norms at once.
void launch_running_update(const RunningUpdate& update, std::int64_t channels, Stream stream);

// Writes the norm's scale and shift (y = scale x + shift), element_type[channels] each.
struct AffineCall {
  FloatType type = FloatType::f32;
  int channels = 0;
  NormParameters norm;
  void* scale = nullptr;
  void* shift = nullptr;
};
void launch_affine(const AffineCall& call, Stream stream);

// Does the same after computing the norm's mean and variance; `moments` must write them where call.norm reads them.
void launch_moments_and_affine(const MomentsOfSums& moments, const AffineCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
