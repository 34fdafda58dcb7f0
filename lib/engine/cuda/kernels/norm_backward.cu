#include "engine/cuda/kernels/norm_backward.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T, int V, bool kOutput, bool kTwo>
void gradient_sums(const NormGradientCall& call, const Matrix& output, const Matrix& masked, const NormSums& sums,
                   Stream stream) {
  const GradientSums<T, V, kOutput, kTwo> op{norm_gradient<T>(call, output), rows_of<T>(masked)};
  launch_sums(op, gradient_finish(call, sums, false), call.rows, call.channels, sums.scratch, stream);
}

template <typename T, int V, bool kMasked, bool kTwo>
void gradient_apply(const NormGradientCall& call, const float* b, const float* c, const Matrix& dx, Stream stream) {
  const GradientApply<T, V, kMasked, kTwo> op{norm_gradient<T>(call, {}), b, c, rows_of<T>(dx)};
  launch_channels(op, call.rows, call.channels, V, stream);
}

// Calls call<T, S, V>(). S is the type of the total, f32 or T. A vector of the total has V elements, regardless of
// their size.
template <typename Call, typename... Moved>
void with_total(FloatType type, FloatType total_type, int channels, const Matrix& total, const Call& call,
                const Moved&... others) {
  with_vectors(
      type, channels,
      [&]<typename T, int V>() {
        const bool fits = V == 1 || whole_vectors(total.data, total.ld, channels, V);
        if (total_type == FloatType::f32) {
          fits ? call.template operator()<T, float, V>() : call.template operator()<T, float, 1>();
        } else {
          fits ? call.template operator()<T, T, V>() : call.template operator()<T, T, 1>();
        }
      },
      others...);
}

}  // namespace

void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums& sums,
                          Stream stream) {
  const bool two = call.gradient2.exists();
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        if (output.exists()) {
          (two ? gradient_sums<T, V, true, true> : gradient_sums<T, V, true, false>)(call, output, masked, sums,
                                                                                     stream);
        } else {
          (two ? gradient_sums<T, V, false, true> : gradient_sums<T, V, false, false>)(call, output, masked, sums,
                                                                                       stream);
        }
      },
      call.x, call.gradient, call.gradient2, output, masked, call.norm);
}

void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix dx,
                           Stream stream) {
  const Matrix gradient2 = masked ? Matrix{} : call.gradient2;  // The first pass has added it to `masked`.
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        if (masked) {
          gradient_apply<T, V, true, false>(call, b, c, dx, stream);
        } else {
          (gradient2.exists() ? gradient_apply<T, V, false, true> : gradient_apply<T, V, false, false>)(call, b, c, dx,
                                                                                                        stream);
        }
      },
      call.x, call.gradient, gradient2, dx, row_of(b), row_of(c), call.norm);
}

void launch_lazy_accumulate(const NormGradientCall& call, FloatType total_type, Matrix total, bool first,
                            const NormSums& sums, Stream stream) {
  const GradientFinish finish = gradient_finish(call, sums, !first);
  const auto launch = [&]<typename T, typename S, int V>() {
    const NormGradient<T> from = norm_gradient<T>(call, {});
    const auto sum = [&](const auto& op) { launch_sums(op, finish, call.rows, call.channels, sums.scratch, stream); };
    first ? sum(LazyAccumulate<T, S, V, true>{from, rows_of<S>(total)})
          : sum(LazyAccumulate<T, S, V, false>{from, rows_of<S>(total)});
  };
  with_total(call.type, total_type, call.channels, total, launch, call.x, call.gradient, call.norm);
}

void launch_lazy_apply(const LazyApplyCall& call, Stream stream) {
  const auto launch = [&]<typename T, typename S, int V>() {
    const LazyApply<T, S, V> op{rows_of<const T>(call.x), rows_of<const S>(call.total), call.b, call.c,
                                rows_of<T>(call.dx)};
    launch_channels(op, call.rows, call.channels, V, stream);
  };
  with_total(call.type, call.total_type, call.channels, call.total, launch, call.x, call.dx, row_of(call.b),
             row_of(call.c));
}

}  // namespace chexbench::engine::cuda::kernels
