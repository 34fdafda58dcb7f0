// Dropout of values that have no pixels, forward and backward alike: each is multiplied by what engine/dropout.hpp
// draws for it.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/dropout.hpp"

namespace chexbench::engine::cuda::kernels {

// Rows are images. A captured step is replayed with the arguments that it was captured with, so the number of the step
// is read from device memory.
template <typename T, int V>
struct Dropout {
  Rows<const T> from;
  Rows<T> to;
  const StepScalars* scalars = nullptr;
  std::uint64_t seed = 0;
  int layer = 0;
  double rate = 0;

  struct Worker {
    static constexpr int kUnroll = 1;
    typedef Pack<T, V> Loaded;
    const Dropout& op;
    const int channel;
    const std::uint64_t step_seed;

    CHEXBENCH_HOST_DEVICE Worker(const Dropout& dropout, int first)
        : op(dropout), channel(first), step_seed(dropout_step_seed(dropout.seed, steps_begun(*dropout.scalars))) {}
    CHEXBENCH_HOST_DEVICE Loaded load(int image) const { return kernels::load<V>(op.from.at(image, channel)); }
    CHEXBENCH_HOST_DEVICE void use(int image, const Loaded& values) const {
      const DropoutMask mask(step_seed, op.layer, image, op.rate);
      Pack<T, V> result;
      for (int i = 0; i < V; ++i) result.at[i] = Element<T>::narrow(widened(values, i) * mask.factor(channel + i));
      store(op.to.at(image, channel), result);
    }
  };
};

}  // namespace chexbench::engine::cuda::kernels
