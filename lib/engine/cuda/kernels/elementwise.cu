#include "engine/cuda/kernels/elementwise.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {

namespace {

// Launches Op<T, V>{from, to}.
template <template <typename, int> typename Op>
void launch_pair(const CopyCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Op<T, V> op{rows_of<const T>(call.from), rows_of<T>(call.to)};
        launch_channels(op, call.rows, call.channels, V, stream);
      },
      call.from, call.to);
}

template <typename T, int V, bool kOutput>
void bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream stream) {
  const BiasBackward<T, V, kOutput> op{rows_of<const T>(call.output), rows_of<const T>(call.gradient), rows_of<T>(dx),
                                       call.clamp};
  launch_sums(op, BiasFinish{call.bias_gradient}, call.rows, call.channels, call.scratch, stream);
}

}  // namespace

void launch_copy(const CopyCall& call, Stream stream) { launch_pair<Copy>(call, stream); }

void launch_add(const CopyCall& call, Stream stream) { launch_pair<Add>(call, stream); }

void launch_bias(const BiasCall& call, const Matrix& x, const Matrix& y, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Bias<T, V> op{rows_of<const T>(x), rows_of<T>(y), call.bias, call.clamp};
        launch_channels(op, call.rows, call.channels, V, stream);
      },
      x, y, row_of(call.bias));
}

void launch_bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        (call.output.exists() ? bias_backward<T, V, true> : bias_backward<T, V, false>)(call, dx, stream);
      },
      call.output, call.gradient, dx);
}

void launch_dropout(const DropoutCall& call, Stream stream) {
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const Dropout<T, V> op{rows_of<const T>(call.from),
                               rows_of<T>(call.to),
                               call.scalars,
                               call.seed,
                               call.layer,
                               call.rate,
                               call.pixels,
                               call.batches_of_step};
        launch_channels(op, call.images * call.pixels, call.channels, V, stream);
      },
      call.from, call.to);
}

}  // namespace chexbench::engine::cuda::kernels
