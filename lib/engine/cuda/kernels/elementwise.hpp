// The passes over feature maps that need neither neighbours nor statistics: copy, sum, bias with activation, dropout.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/kernels/reduction.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/dropout.hpp"

namespace chexbench::engine::cuda::kernels {

// Copies a feature map into a slice of another buffer.
template <typename T, int V>
struct Copy {
  Rows<const T> from;
  Rows<T> to;

  struct Worker {
    static constexpr int kUnroll = 4;
    using Loaded = Pack<T, V>;
    const Copy& op;
    const int channel;

    CHEXBENCH_HOST_DEVICE Worker(const Copy& copy, int first) : op(copy), channel(first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return kernels::load<V>(op.from.at(row, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const { store(op.to.at(row, channel), loaded); }
  };
};

// Computes to += from, to add the gradients of two readers of one feature map.
template <typename T, int V>
struct Add {
  Rows<const T> from;
  Rows<T> to;

  struct Worker {
    static constexpr int kUnroll = 4;
    struct Loaded {
      Pack<T, V> from, to;
    };
    const Add& op;
    const int channel;

    CHEXBENCH_HOST_DEVICE Worker(const Add& add, int first) : op(add), channel(first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      return {kernels::load<V>(op.from.at(row, channel)), kernels::load<V>(op.to.at(row, channel))};
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) const {
      Pack<T, V> sum;
      for (int i = 0; i < V; ++i) sum.at[i] = Element<T>::narrow(widened(loaded.from, i) + widened(loaded.to, i));
      store(op.to.at(row, channel), sum);
    }
  };
};

// Copies `from` to `to`, which must not overlap, or adds it to `to`. Both are [rows][channels].
struct CopyCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Matrix from, to;
};
void launch_copy(const CopyCall& call, Stream stream);
void launch_add(const CopyCall& call, Stream stream);

// Bias and activation of layers that no batch norm follows: y = clamp(x + bias).
template <typename T, int V>
struct Bias {
  Rows<const T> x;
  Rows<T> y;
  const float* bias = nullptr;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = 4;
    typedef Pack<T, V> Loaded;
    const Bias& op;
    const int channel;
    const Channels<V> bias;

    CHEXBENCH_HOST_DEVICE Worker(const Bias& of, int first) : op(of), channel(first), bias(of.bias, first) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return kernels::load<V>(op.x.at(row, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& values) const {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) result.at[i] = Element<T>::narrow(clamped(widened(values, i) + bias.at[i], op.clamp));
      store(op.y.at(row, channel), result);
    }
  };
};

// Writes dx, the part of dy that passes the activation, and computes the first stage of its sum over the rows. Without
// an activation (kOutput is false) the output y is not read.
template <typename T, int V, bool kOutput>
struct BiasBackward {
  static constexpr int kWidth = V;
  Rows<const T> y;
  Rows<const T> dy;
  Rows<T> dx;
  Clamp clamp;

  struct Worker {
    static constexpr int kUnroll = 4;
    struct Loaded {
      Pack<T, V> y, dy;
    };
    const BiasBackward& op;
    const int channel;
    Totals<V> totals{};

    CHEXBENCH_HOST_DEVICE Worker(const BiasBackward& of, const Lane& lane) : op(of), channel(lane.channel) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const {
      Loaded loaded;
      loaded.dy = kernels::load<V>(op.dy.at(row, channel));
      if constexpr (kOutput) loaded.y = kernels::load<V>(op.y.at(row, channel));
      return loaded;
    }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& loaded) {
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) {
        float gradient = widened(loaded.dy, i);
        if constexpr (kOutput) gradient = passed(gradient, widened(loaded.y, i), op.clamp);
        totals.at[i].first += gradient;
        result.at[i] = Element<T>::narrow(gradient);
      }
      store(op.dx.at(row, channel), result);
    }
    CHEXBENCH_HOST_DEVICE Totals<V> result(int) const { return totals; }
  };

  CHEXBENCH_HOST_DEVICE static Pair merge(Pair a, float, Pair b, float) { return added(a, b); }
};

struct BiasFinish {
  float* bias_gradient = nullptr;

  CHEXBENCH_HOST_DEVICE static DoublePair term(Pair partial, int) { return {static_cast<double>(partial.first), 0}; }
  CHEXBENCH_HOST_DEVICE void write(int channel, DoublePair sum) const {
    bias_gradient[channel] = static_cast<float>(sum.first);
  }
};

// Computes y = clamp(x + bias). y may be x.
struct BiasCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  const float* bias = nullptr;  // [channels]
  Clamp clamp;
};
void launch_bias(const BiasCall& call, const Matrix& x, const Matrix& y, Stream stream);

// Writes dx, the part of the gradient that passes the activation, and bias_gradient, the sum of dx over the rows. No
// two tensors may overlap.
struct BiasBackwardCall {
  FloatType type = FloatType::f32;
  int rows = 0, channels = 0;
  Clamp clamp;
  Matrix output;  // Does not exist if there is no activation.
  Matrix gradient;
  float* bias_gradient = nullptr;  // [channels]
  void* scratch = nullptr;         // As in norm_forward.hpp.
};
void launch_bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream stream);

// Dropout, for forward and backward alike: each value is multiplied by its factor from engine/dropout.hpp. If an image
// has several pixels, values are numbered channel by channel, in the order in which PyTorch flattens them. Rows are
// pixels. A captured step is replayed with the arguments of its capture, so the number of the batch is read from device
// memory.
template <typename T, int V>
struct Dropout {
  Rows<const T> from;
  Rows<T> to;
  const StepScalars* scalars = nullptr;
  std::uint64_t seed = 0;
  int layer = 0;
  double rate = 0;
  int pixels = 1;  // Of an image.
  int batches_of_step = 1;

  struct Worker {
    static constexpr int kUnroll = 1;
    typedef Pack<T, V> Loaded;
    const Dropout& op;
    const int channel;
    const std::uint64_t batch_seed;

    CHEXBENCH_HOST_DEVICE Worker(const Dropout& dropout, int first)
        : op(dropout),
          channel(first),
          batch_seed(dropout_batch_seed(dropout.seed, batches_begun(*dropout.scalars, dropout.batches_of_step))) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int row) const { return kernels::load<V>(op.from.at(row, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int row, const Loaded& values) const {
      const int image = row / op.pixels, pixel = row % op.pixels;
      const DropoutMask mask(batch_seed, op.layer, image, op.rate);
      Pack<T, V> result;
      for (int i = 0; i < V; ++i)
        result.at[i] = Element<T>::narrow(widened(values, i) * mask.factor((channel + i) * op.pixels + pixel));
      store(op.to.at(row, channel), result);
    }
  };
};

// Computes `to` = `from` times the dropout factors: values in forward, their gradients in backward. `to` and `from` may
// be the same memory.
struct DropoutCall {
  FloatType type = FloatType::f32;
  int images = 0, channels = 0;
  int pixels = 1;  // Of an image.
  Matrix from, to;
  const StepScalars* scalars = nullptr;  // Of the current step, before launch_decide().
  std::uint64_t seed = 0;                // From dropout_seed() of engine/dropout.hpp.
  int batches_of_step = 1;
  int layer = 0;    // Layer of the graph.
  double rate = 0;  // Share of values that is dropped.
};
void launch_dropout(const DropoutCall& call, Stream stream);

}  // namespace chexbench::engine::cuda::kernels
