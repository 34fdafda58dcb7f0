// Backward of the norms that read one dense block. Up to 24 of them read a channel, and each has its own a, b, c
// (norm_backward.hpp). a is known before any sum, so in the pass that computes its sums a norm already adds a g to the
// block's gradient. Its b and c are added up per channel (GradientFinish::add), and b x + c is applied once, when
// backward reaches the layer that produced the channel. So no norm reads its tensors twice.
#pragma once

#include "engine/cuda/kernels/norm_backward.hpp"

namespace chexbench::engine::cuda::kernels {

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

}  // namespace chexbench::engine::cuda::kernels
