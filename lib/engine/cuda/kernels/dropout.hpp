// Dropout, for forward and backward alike: each value is multiplied by its factor from engine/dropout.hpp. If an image
// has several pixels, values are numbered channel by channel, in the order in which PyTorch flattens them.
#pragma once

#include "engine/cuda/kernels/channel_grid.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/dropout.hpp"

namespace chexbench::engine::cuda::kernels {

// Rows are pixels. A captured step is replayed with the arguments of its capture, so the number of the batch is read
// from device memory.
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

}  // namespace chexbench::engine::cuda::kernels
