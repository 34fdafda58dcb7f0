// Copies a feature map into a slice of another buffer.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

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

}  // namespace chexbench::engine::cuda::kernels
