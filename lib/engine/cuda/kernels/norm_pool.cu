#include "engine/cuda/kernels/norm_pool.hpp"

#include <type_traits>

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

// A pass's operands besides the norm's input and the gradient: its results, and the b and c that it reads.
struct Moved {
  Matrix matrix;
  const float* b = nullptr;
  const float* c = nullptr;
};

// Calls launch(op, width), where `op` runs make_pass<T, V>(the norm's gradient) over patches.
template <bool kMax, typename MakePass, typename Launch>
void with_patches(const NormGradientCall& call, const PoolBetween& pool, const Moved& moved, const MakePass& make_pass,
                  const Launch& launch) {
  check_norm_pool(pool.shape, kMax);
  with_vectors(
      call.type, call.channels,
      [&]<typename T, int V>() {
        const auto pass = make_pass.template operator()<T, V>(norm_gradient<T>(call, {}));
        const Rows<const std::uint8_t> winners{pool.winner, call.channels};
        const OverPatches<std::decay_t<decltype(pass)>, T, V, kMax> op{
            pass, rows_of<const T>(call.gradient), winners, {pool.shape}};
        launch(op, V);
      },
      call.x, call.gradient, moved.matrix, row_of(moved.b), row_of(moved.c), call.norm);
}

// The same for either kind of pool.
void with_patches_of(const NormGradientCall& call, const PoolBetween& pool, const Moved& moved, const auto& make_pass,
                     const auto& launch) {
  if (pool.winner != nullptr) return with_patches<true>(call, pool, moved, make_pass, launch);
  with_patches<false>(call, pool, moved, make_pass, launch);
}

// Launches the sums of a pass, and their finish.
auto sums_launcher(const NormGradientCall& call, const PoolBetween& pool, const NormSums& sums, Stream stream) {
  return [&call, &pool, &sums, stream](const auto& op, int) {
    launch_sums(op, gradient_finish(call, sums, false), op.rows(pool.images), call.channels, sums.scratch, stream);
  };
}

}  // namespace

void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t* winner, Stream stream) {
  const PoolCall& pool = call.pool;
  check_norm_pool(pool.shape, true);
  const Rows<std::uint8_t> winners{winner, pool.channels};
  with_vectors(
      pool.type, pool.channels,
      [&]<typename T, int V>() {
        const MaxPool<T, V, 3, NormedValues<T, V>> op{
            rows_of<const T>(pool.x), rows_of<T>(pool.y), winners, pool.shape, {call.norm, call.clamp}};
        launch_channels(op, pool.images * pool.shape.out_pixels(), pool.channels, V, stream);
      },
      pool.x, pool.y, call.norm);
}

void launch_norm_average_pool(const NormPoolCall& call, Stream stream) {
  const PoolCall& pool = call.pool;
  check_norm_pool(pool.shape, false);
  with_vectors(
      pool.type, pool.channels,
      [&]<typename T, int V>() {
        const AveragePool<T, V, 2, NormedValues<T, V>> op{
            rows_of<const T>(pool.x), rows_of<T>(pool.y), pool.shape, {call.norm, call.clamp}};
        launch_channels(op, pool.images * pool.shape.out_pixels(), pool.channels, V, stream);
      },
      pool.x, pool.y, call.norm);
}

void launch_pooled_gradient_sums(const NormGradientCall& call, const PoolBetween& pool, const NormSums& sums,
                                 Stream stream) {
  const auto pass = [&]<typename T, int V>(const NormGradient<T>& from) {
    return GradientSums<T, V, false, false>{from, {}};
  };
  with_patches_of(call, pool, {}, pass, sums_launcher(call, pool, sums, stream));
}

void launch_pooled_gradient_apply(const NormGradientCall& call, const PoolBetween& pool, const float* b, const float* c,
                                  Matrix dx, Stream stream) {
  const auto pass = [&]<typename T, int V>(const NormGradient<T>& from) {
    return GradientApply<T, V, false, false>{from, b, c, rows_of<T>(dx)};
  };
  with_patches_of(call, pool, {dx, b, c}, pass, [&](const auto& op, int width) {
    launch_channels(op, op.rows(pool.images), call.channels, width, stream);
  });
}

void launch_pooled_lazy_accumulate(const NormGradientCall& call, const PoolBetween& pool, Matrix total,
                                   const NormSums& sums, Stream stream) {
  const auto pass = [&]<typename T, int V>(const NormGradient<T>& from) {
    return LazyAccumulate<T, T, V, true>{from, rows_of<T>(total)};
  };
  with_patches<false>(call, pool, {.matrix = total}, pass, sums_launcher(call, pool, sums, stream));
}

}  // namespace chexbench::engine::cuda::kernels
