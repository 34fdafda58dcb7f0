#include "engine/cuda/kernels/norm_lazy.hpp"

#include "engine/cuda/kernels/norm_gradient.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

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
