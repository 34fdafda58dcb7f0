#include "engine/cuda/sweep/noted_launches.hpp"

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/kernels/optimizer.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"
#include "engine/cuda/runtime/linear_products.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {

std::vector<KernelCall>& noted_launches() {
  static std::vector<KernelCall> launches;
  return launches;
}

// Products, copies from the host and the order of streams are not kernels of the engine.
struct LinearProducts::Impl {};
LinearProducts::LinearProducts(const std::vector<LinearShape>&, spec::Precision) {}
LinearProducts::~LinearProducts() = default;
void LinearProducts::forward(const LinearShape&, const void*, const void*, void*, Stream) {}
void LinearProducts::data_gradient(const LinearShape&, const void*, const void*, void*, Stream) {}
void LinearProducts::weight_gradient(const LinearShape&, const void*, const void*, void*, Stream) {}
void copy_to_device(void*, const void*, std::size_t, Stream) {}
void clear(void*, std::size_t, Stream) {}
OwnedStream::OwnedStream() = default;
OwnedStream::~OwnedStream() = default;
Event::Event() = default;
Event::~Event() = default;
void Event::record(Stream) {}
void wait_for(Stream, const Event&) {}

namespace kernels {
namespace {

int ld(const Matrix& matrix) { return static_cast<int>(matrix.ld); }

Activation activation(const Clamp& clamp) {
  if (clamp.low < 0) return Activation::none;
  return clamp.high == 6 ? Activation::relu6 : Activation::relu;
}

// The sweep times calls whose arrays by channel can be read 16 bytes at a time, which must be true of the engine's.
void check_aligned(std::initializer_list<const float*> by_channel) {
  for (const float* array : by_channel) {
    if (reinterpret_cast<std::uintptr_t>(array) % 16 != 0)
      throw std::logic_error("an array by channel is not aligned to 16 bytes");
  }
}
void check_aligned(const NormParameters& norm) { check_aligned({norm.mean, norm.variance, norm.weight, norm.bias}); }

// The launchers launch nothing for no items, such as the running statistics of a network without norms.
void note(const KernelCall& call) {
  if (call.items > 0) noted_launches().push_back(call);
}

void note_pool(Kernel kernel, const PoolCall& call, bool has_window, Activation activation = Activation::none) {
  PoolShape shape = call.shape;
  if (!has_window) shape.kernel = shape.stride = shape.padding = 0;
  note({.kernel = kernel,
        .type = call.type,
        .items = call.images,
        .channels = call.channels,
        .in_ld = ld(call.x),
        .out_ld = ld(call.y),
        .activation = activation,
        .pool = shape});
}

void note_gradient(Kernel kernel, const NormGradientCall& call, const Matrix& residual = {}) {
  check_aligned(call.norm);
  note({.kernel = kernel,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(call.x),
        .out_ld = ld(call.gradient),
        .residual_ld = ld(residual),
        .activation = kernel == Kernel::gradient_apply_masked ? Activation::none : activation(call.clamp)});
}

// The rows of the call are those of the pool's images.
void note_pooled_gradient(Kernel max, Kernel average, const NormGradientCall& call, const PoolBetween& pool) {
  check_aligned(call.norm);
  if (call.rows != pool.images * pool.shape.pixels()) throw std::logic_error("a norm's rows are not its pool's pixels");
  note_pool(pool.winner != nullptr ? max : average,
            {.type = call.type,
             .images = pool.images,
             .channels = call.channels,
             .shape = pool.shape,
             .x = call.x,
             .y = call.gradient},
            true, activation(call.clamp));
}

void note_copy(Kernel kernel, const CopyCall& call) {
  note({.kernel = kernel,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(call.from),
        .out_ld = ld(call.to)});
}

void note_upload(Kernel kernel, const UploadCall& call) {
  note({.kernel = kernel, .type = call.type, .items = call.pixels, .channels = call.channels});
}

void note_update(Kernel kernel, const UpdateCall& call) {
  note({.kernel = kernel, .type = call.gradient_type, .items = call.count});
}

}  // namespace

void launch_statistics(const StatisticsCall& call, Stream) {
  note({.kernel = Kernel::statistics,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(call.x),
        .inverse_deviation = call.inverse_deviation != nullptr});
}
void launch_moments(const MomentsOfSums& moments, int channels, Stream) {
  note(
      {.kernel = Kernel::moments, .items = channels, .inverse_deviation = moments.finish.inverse_deviation != nullptr});
}
void launch_moments_and_affine(const MomentsOfSums& moments, const AffineCall& call, Stream) {
  note({.kernel = Kernel::moments_and_affine,
        .type = call.type,
        .items = call.channels,
        .inverse_deviation = moments.finish.inverse_deviation != nullptr});
}
void launch_running_update(const RunningUpdate&, std::int64_t channels, Stream) {
  note({.kernel = Kernel::running_update, .items = channels});
}
void launch_affine(const AffineCall& call, Stream) {
  note({.kernel = Kernel::affine, .type = call.type, .items = call.channels});
}
void launch_normalize(const NormalizeCall& call, Stream) {
  check_aligned(call.norm);
  note({.kernel = call.residual.exists() ? Kernel::normalize_residual : Kernel::normalize,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(call.x),
        .out_ld = ld(call.y),
        .residual_ld = ld(call.residual),
        .activation = activation(call.clamp)});
}
void launch_gradient_sums(const NormGradientCall& call, Matrix output, Matrix masked, const NormSums&, Stream) {
  const bool two = call.gradient2.exists();
  if (output.exists()) {
    note_gradient(two ? Kernel::gradient_sums_residual_two : Kernel::gradient_sums_residual, call, masked);
  } else {
    note_gradient(two ? Kernel::gradient_sums_two : Kernel::gradient_sums, call);
  }
}
void launch_gradient_apply(const NormGradientCall& call, bool masked, const float* b, const float* c, Matrix, Stream) {
  check_aligned({b, c});
  const Kernel unmasked = call.gradient2.exists() ? Kernel::gradient_apply_two : Kernel::gradient_apply;
  note_gradient(masked ? Kernel::gradient_apply_masked : unmasked, call);
}
void launch_lazy_accumulate(const NormGradientCall& call, FloatType, Matrix, bool first, const NormSums&, Stream) {
  note_gradient(first ? Kernel::lazy_accumulate_first : Kernel::lazy_accumulate, call);
}
void launch_lazy_apply(const LazyApplyCall& call, Stream) {
  check_aligned({call.b, call.c});
  const bool in_place = call.dx.data == call.total.data;
  note({.kernel = in_place ? Kernel::lazy_apply : Kernel::lazy_apply_packed,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(call.x),
        .out_ld = in_place ? 0 : ld(call.dx)});
}

void launch_norm_max_pool(const NormPoolCall& call, std::uint8_t*, Stream) {
  check_aligned(call.norm);
  note_pool(Kernel::norm_max_pool, call.pool, true, activation(call.clamp));
}
void launch_norm_average_pool(const NormPoolCall& call, Stream) {
  check_aligned(call.norm);
  note_pool(Kernel::norm_average_pool, call.pool, true, activation(call.clamp));
}
void launch_pooled_gradient_sums(const NormGradientCall& call, const PoolBetween& pool, const NormSums&, Stream) {
  note_pooled_gradient(Kernel::max_pooled_gradient_sums, Kernel::average_pooled_gradient_sums, call, pool);
}
void launch_pooled_gradient_apply(const NormGradientCall& call, const PoolBetween& pool, const float* b, const float* c,
                                  Matrix, Stream) {
  check_aligned({b, c});
  note_pooled_gradient(Kernel::max_pooled_gradient_apply, Kernel::average_pooled_gradient_apply, call, pool);
}
void launch_pooled_lazy_accumulate(const NormGradientCall& call, const PoolBetween& pool, Matrix, const NormSums&,
                                   Stream) {
  note_pooled_gradient(Kernel::average_pooled_lazy_accumulate, Kernel::average_pooled_lazy_accumulate, call, pool);
}

void launch_max_pool(const PoolCall& call, std::uint8_t*, Stream) { note_pool(Kernel::max_pool, call, true); }
void launch_max_pool_backward(const PoolCall& call, const std::uint8_t*, Stream) {
  note_pool(Kernel::max_pool_backward, call, true);
}
void launch_average_pool(const PoolCall& call, Stream) { note_pool(Kernel::average_pool, call, true); }
void launch_average_pool_backward(const PoolCall& call, Stream) {
  note_pool(Kernel::average_pool_backward, call, true);
}
void launch_global_average(const PoolCall& call, Stream) { note_pool(Kernel::global_average, call, false); }
void launch_global_average_backward(const PoolCall& call, Stream) {
  note_pool(Kernel::global_average_backward, call, false);
}
void launch_adaptive_average(const PoolCall& call, Stream) { note_pool(Kernel::adaptive_average, call, false); }
void launch_adaptive_average_backward(const PoolCall& call, Stream) {
  note_pool(Kernel::adaptive_average_backward, call, false);
}

void launch_bias(const BiasCall& call, const Matrix& x, const Matrix& y, Stream) {
  note({.kernel = Kernel::bias,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(x),
        .out_ld = ld(y),
        .activation = activation(call.clamp)});
}
void launch_bias_backward(const BiasBackwardCall& call, const Matrix& dx, Stream) {
  note({.kernel = Kernel::bias_backward,
        .type = call.type,
        .items = call.rows,
        .channels = call.channels,
        .in_ld = ld(dx),
        .out_ld = ld(call.gradient),
        .activation = call.output.exists() ? activation(call.clamp) : Activation::none});
}
void launch_dropout(const DropoutCall& call, Stream) {
  note({.kernel = Kernel::dropout,
        .type = call.type,
        .items = call.images,
        .channels = call.channels,
        .in_ld = ld(call.from),
        .out_ld = ld(call.to),
        .pool = {.height = call.pixels, .width = 1}});
}
void launch_add(const CopyCall& call, Stream) { note_copy(Kernel::add, call); }
void launch_copy(const CopyCall& call, Stream) { note_copy(Kernel::copy, call); }

void launch_upload_gray(const UploadCall& call, const std::uint8_t*, const Normalization&, Stream) {
  note_upload(Kernel::upload_gray, call);
}
void launch_upload_color(const UploadCall& call, const float*, Stream) { note_upload(Kernel::upload_color, call); }
void launch_upload_rgb(const UploadCall& call, const std::uint8_t*, const Normalization&, Stream) {
  note_upload(Kernel::upload_rgb, call);
}
void launch_overflow_check(FloatType type, const void*, std::int64_t count, StepScalars*, Stream) {
  note({.kernel = Kernel::overflow_check, .type = type, .items = count});
}
void launch_set_learning_rate(StepScalars*, float, Stream) { note({.kernel = Kernel::set_learning_rate}); }
void launch_decide(StepScalars*, const StepRules&, Stream) { note({.kernel = Kernel::decide}); }
void launch_adam(const UpdateCall& call, const StepRules&, float, Stream) { note_update(Kernel::adam, call); }
void launch_sgd(const UpdateCall& call, float, Stream) { note_update(Kernel::sgd, call); }
// Only options that no sweep has launch these.
void launch_gradient_squares(FloatType, const void*, std::int64_t, double*, Stream) {
  throw std::logic_error("not swept");
}
void launch_gradient_norm(const double*, int, StepScalars*, Stream) { throw std::logic_error("not swept"); }
void launch_moving_average(const UpdateCall&, float, Stream) { throw std::logic_error("not swept"); }
void launch_swap_average(const UpdateCall&, Stream) { throw std::logic_error("not swept"); }
void launch_copy_weights(const UpdateCall& call, Stream) { note_update(Kernel::copy_weights, call); }

}  // namespace kernels
}  // namespace chexbench::engine::cuda
