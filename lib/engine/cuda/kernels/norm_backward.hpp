// Backward of norm_forward.hpp. Let g be the gradient that passes the activation, and per channel
//   a = weight / deviation,  b = -a sum(g (x - mean)) / (deviation^2 n),  c = -a sum(g) / n - b mean.
// Then dx = a g + b x + c, the weight's gradient is sum(g (x - mean)) / deviation, and the bias's gradient is sum(g).
// This takes two passes, because every dx needs the sums over all rows. If there is a residual, g is the residual's
// gradient too, so the first pass writes it.
#pragma once

#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {

// The inputs of g: gradient (+ gradient2), and the value that decides whether it passes the activation: `output` if a
// residual was added, else the norm of x, which is recomputed.
template <typename T>
struct NormGradient {
  Rows<const T> x;
  Rows<const T> output;
  Rows<const T> gradient;
  Rows<const T> gradient2;
  NormParameters norm;
  Clamp clamp;
};

template <typename T, int V, bool kOutput, bool kTwo>
struct LoadedGradient {
  Pack<T, V> x, output, gradient, gradient2;

  CHEXBENCH_HOST_DEVICE static LoadedGradient at(const NormGradient<T>& from, int row, int channel) {
    LoadedGradient loaded;
    loaded.x = load<V>(from.x.at(row, channel));
    loaded.gradient = load<V>(from.gradient.at(row, channel));
    if constexpr (kTwo) loaded.gradient2 = load<V>(from.gradient2.at(row, channel));
    if constexpr (kOutput) loaded.output = load<V>(from.output.at(row, channel));
    return loaded;
  }
  // Returns g of channel i.
  CHEXBENCH_HOST_DEVICE float masked(int i, const Affine<V>& affine, Clamp clamp) const {
    float sum = widened(gradient, i);
    if constexpr (kTwo) sum += widened(gradient2, i);
    if constexpr (kOutput) return passed(sum, widened(output, i), clamp);
    return passed(sum, affine(i, widened(x, i)), clamp);
  }
};

// First pass: computes sum(g) and sum(g (x - mean)). With kOutput it writes g to `masked`, which may be the memory of a
// gradient.
template <typename T, int V, bool kOutput, bool kTwo>
struct GradientSums {
  static constexpr int kWidth = V;
  NormGradient<T> from;
  Rows<T> masked;

  struct Worker {
    static constexpr int kUnroll = 2;
    typedef LoadedGradient<T, V, kOutput, kTwo> Loaded;
    const GradientSums& op;
    const int channel;
    const Channels<V> mean;
    const Affine<V> affine;
    Totals<V> totals{};

    CHEXBENCH_HOST_DEVICE Worker(const GradientSums& sums, const Lane& lane)
        : op(sums), channel(lane.channel), mean(sums.from.norm.mean, channel), affine(sums.from.norm, channel) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return Loaded::at(op.from, row, channel); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) {
      Pack<T, V> kept;
      for (int i = 0; i < V; ++i) {
        const float g = loaded.masked(i, affine, op.from.clamp);
        if constexpr (kOutput) kept.at[i] = Element<T>::narrow(g);
        totals.at[i].first += g;
        totals.at[i].second += g * (widened(loaded.x, i) - mean.at[i]);
      }
      if constexpr (kOutput) store(op.masked.at(row, channel), kept);
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int) const { return totals; }
  };

  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float, Pair b, float) { return added(a, b); }
};

// Second pass: computes dx, which may use the memory of x. With kMasked, `gradient` is the g that the first pass wrote.
template <typename T, int V, bool kMasked, bool kTwo>
struct GradientApply {
  NormGradient<T> from;
  const float* b = nullptr;
  const float* c = nullptr;
  Rows<T> dx;

  struct Worker {
    static constexpr int kUnroll = kMasked ? 4 : 2;
    typedef LoadedGradient<T, V, false, kTwo> Loaded;
    const GradientApply& op;
    const int channel;
    const Channels<V> b, c;
    const Affine<V> affine;

    CHEXBENCH_HOST_DEVICE Worker(const GradientApply& apply, int first)
        : op(apply), channel(first), b(apply.b, first), c(apply.c, first), affine(apply.from.norm, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return Loaded::at(op.from, row, channel); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        const float g = kMasked ? widened(loaded.gradient, i) : loaded.masked(i, affine, op.from.clamp);
        result.at[i] = Element<T>::narrow(fmaf(affine.scale[i], g, fmaf(b.at[i], widened(loaded.x, i), c.at[i])));
      }
      store(op.dx.at(row, channel), result);
    }
  };
};

// Between the passes: computes the parameters' gradients, b and c. The statistics of a frozen norm are constants, so
// its b and c are 0.
struct GradientFinish {
  NormParameters norm;
  double count = 0;  // Rows.
  bool frozen = false;
  bool add = false;  // Add b and c to the existing values (LazyAccumulate).
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;

  CHEXBENCH_HOST_DEVICE static DoublePair term(Pair partial, int) {
    return {static_cast<double>(partial.first), static_cast<double>(partial.second)};
  }
  CHEXBENCH_HOST_DEVICE void write(int channel, DoublePair sum) const {
    const auto inverse = static_cast<double>(inverse_deviation(norm.variance[channel], norm.epsilon));
    weight_gradient[channel] = static_cast<float>(sum.second * inverse);
    bias_gradient[channel] = static_cast<float>(sum.first);
    float of_x = 0, constant = 0;
    if (!frozen) {
      const double a = static_cast<double>(norm.weight[channel]) * inverse;
      const double slope = -a * inverse * inverse * sum.second / count;
      of_x = static_cast<float>(slope);
      constant = static_cast<float>(-a * sum.first / count - slope * static_cast<double>(norm.mean[channel]));
    }
    b[channel] = add ? b[channel] + of_x : of_x;
    c[channel] = add ? c[channel] + constant : constant;
  }
};

// Backward of the norms that read one dense block. Up to 24 of them read a channel, and each has its own a, b, c
// (see the head of this file). a is known before any sum, so in the pass that computes its sums a norm already adds a g
// to the block's gradient. Its b and c are added up per channel (GradientFinish::add), and b x + c is applied once,
// when backward reaches the layer that produced the channel. So no norm reads its tensors twice.

// Adds a g to `total` (of type S), or sets total = a g if kFirst; also sums g and g (x - mean).
template <typename T, typename S, int V, bool kFirst>
struct LazyAccumulate {
  static constexpr int kWidth = V;
  NormGradient<T> from;
  Rows<S> total;

  struct Worker {
    static constexpr int kUnroll = 2;
    struct Loaded {
      LoadedGradient<T, V, false, false> from;
      Pack<S, V> total;
    };
    const LazyAccumulate& op;
    const int channel;
    const Channels<V> mean;
    const Affine<V> affine;
    Totals<V> totals{};

    CHEXBENCH_HOST_DEVICE Worker(const LazyAccumulate& of, const Lane& lane)
        : op(of), channel(lane.channel), mean(of.from.norm.mean, channel), affine(of.from.norm, channel) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      Loaded loaded;
      loaded.from = LoadedGradient<T, V, false, false>::at(op.from, row, channel);
      if constexpr (!kFirst) loaded.total = kernels::load<V>(op.total.at(row, channel));
      return loaded;
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) {
      Pack<S, V> grown;
      for (int i = 0; i < V; ++i) {
        const float g = loaded.from.masked(i, affine, op.from.clamp);
        float before = 0;
        if constexpr (!kFirst) before = widened(loaded.total, i);
        grown.at[i] = Element<S>::narrow(fmaf(affine.scale[i], g, before));
        totals.at[i].first += g;
        totals.at[i].second += g * (widened(loaded.from.x, i) - mean.at[i]);
      }
      store(op.total.at(row, channel), grown);
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int) const { return totals; }
  };

  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float, Pair b, float) { return added(a, b); }
};

// Computes dx = total + b x + c. dx may use the memory of x, or that of total if the types are the same; where the
// channels were copied into the block, it is the packed gradient of the copied map.
template <typename T, typename S, int V>
struct LazyApply {
  Rows<const T> x;
  Rows<const S> total;
  const float* b = nullptr;
  const float* c = nullptr;
  Rows<T> dx;

  struct Worker {
    static constexpr int kUnroll = 2;
    struct Loaded {
      Pack<T, V> x;
      Pack<S, V> total;
    };
    const LazyApply& op;
    const int channel;
    const Channels<V> b, c;

    CHEXBENCH_HOST_DEVICE Worker(const LazyApply& apply, int first)
        : op(apply), channel(first), b(apply.b, first), c(apply.c, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      return {kernels::load<V>(op.x.at(row, channel)), kernels::load<V>(op.total.at(row, channel))};
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        result.at[i] = Element<T>::narrow(widened(loaded.total, i) + fmaf(b.at[i], widened(loaded.x, i), c.at[i]));
      }
      store(op.dx.at(row, channel), result);
    }
  };
};

// The gradient of a norm's output, with the inputs and parameters of the norm.
struct NormGradientCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, gradient;
  Matrix gradient2;  // Of a second reader of the output; optional.
  NormParameters norm;
  Clamp clamp;
};

// Outputs of the first pass: gradients of the norm's parameters, and b and c of its input's gradient
// (see the head of this file), f32[channels] each.
struct NormSums {
  float* weight_gradient = nullptr;
  float* bias_gradient = nullptr;
  float* b = nullptr;
  float* c = nullptr;
  bool frozen = false;  // The statistics are constants, so b and c are 0.
  void* scratch = nullptr;
};

// First pass. If a residual was added, `output` is forward's result, and `masked` receives the residual's gradient; it
// may be `gradient` or `gradient2`. Without a residual neither exists.
void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums& sums,
                          Stream stream);
// Second pass: writes dx, which may be x. If `masked` is true, `call.gradient` must be the first pass's `masked`.
void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix dx,
                           Stream stream);

// First pass of a norm that reads a dense block. With `first`, total, b and c are overwritten; otherwise they are added
// to. `total_type` is f32 or the call's type. The call must not have a gradient2.
void launch_lazy_accumulate(const NormGradientCall& call, FloatType total_type, Matrix total, bool first,
                            const NormSums& sums, Stream stream);

// Last pass of a dense block: computes dx = total + b x + c. dx may be x, or total if that has x's type.
struct LazyApplyCall {
  FloatType type = FloatType::f32, total_type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix x, total, dx;
  const float* b = nullptr;
  const float* c = nullptr;
};
void launch_lazy_apply(const LazyApplyCall& call, Stream stream);

// Converts a call to the operations' types.
template <typename T>
NormGradient<T> norm_gradient(const NormGradientCall& call, const Matrix& output) {
  return {rows_of<const T>(call.x),
          rows_of<const T>(output),
          rows_of<const T>(call.gradient),
          rows_of<const T>(call.gradient2),
          call.norm,
          call.clamp};
}

inline GradientFinish gradient_finish(const NormGradientCall& call, const NormSums& sums, bool add) {
  return {.norm = call.norm,
          .count = static_cast<double>(call.rows),
          .frozen = sums.frozen,
          .add = add,
          .weight_gradient = sums.weight_gradient,
          .bias_gradient = sums.bias_gradient,
          .b = sums.b,
          .c = sums.c};
}

}  // namespace chexbench::engine::cuda::kernels
