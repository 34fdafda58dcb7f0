// Computes to += from, to add the gradients of two readers of one feature map.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

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

}  // namespace chexbench::engine::cuda::kernels
