#include "engine/cuda/sweep/launch_kernel.hpp"

#include "engine/cuda/kernels/elementwise.hpp"
#include "engine/cuda/kernels/gradients.hpp"
#include "engine/cuda/kernels/loss.hpp"
#include "engine/cuda/kernels/norm_backward.hpp"
#include "engine/cuda/kernels/norm_pool.hpp"
#include "engine/cuda/kernels/optimizer.hpp"
#include "engine/cuda/kernels/pool.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/kernels/upload.hpp"

namespace chexbench::engine::cuda {
namespace {

using kernels::Matrix;
using kernels::Stream;

// The launch of one call. The functions are named after the kernels that they launch.
class Launch {
 public:
  Launch(const KernelCall& call, const KernelMemory& memory, void* scratch, Stream stream)
      : call_(call), memory_(memory), scratch_(scratch), stream_(stream) {}

  void run() const {
    switch (traits_of(call_.kernel).group) {
      case KernelGroup::norm:
        return run_norm();
      case KernelGroup::norm_backward:
        return run_norm_backward();
      case KernelGroup::norm_pool:
        return run_norm_pool();
      case KernelGroup::pool:
        return run_pool();
      case KernelGroup::layer:
        return run_layer();
      case KernelGroup::step:
        return run_step();
    }
  }

 private:
  int rows() const { return static_cast<int>(call_.items); }
  int channels() const { return call_.channels; }
  Matrix matrix(const char* name) const { return memory_.matrix(name); }
  float* floats(const char* name) const { return memory_.array<float>(name); }

  void run_norm() const {
    switch (call_.kernel) {
      case Kernel::statistics:
        return kernels::launch_statistics({.type = call_.type,
                                           .rows = rows(),
                                           .channels = channels(),
                                           .x = matrix("x"),
                                           .mean = floats("mean"),
                                           .variance = floats("variance"),
                                           .inverse_deviation = floats("inverse_deviation"),
                                           .epsilon = KernelMemory::kEpsilon,
                                           .scratch = scratch_},
                                          stream_);
      case Kernel::moments:
        return kernels::launch_moments(memory_.moments(), rows(), stream_);
      case Kernel::moments_and_affine:
        return kernels::launch_moments_and_affine(memory_.moments(), affine(), stream_);
      case Kernel::running_update:
        return kernels::launch_running_update({floats("mean"), floats("variance"), memory_.array<int>("source"),
                                               floats("unbias"), floats("running_mean"), floats("running_variance")},
                                              call_.items, stream_);
      case Kernel::affine:
        return kernels::launch_affine(affine(), stream_);
      default:
        return kernels::launch_normalize({.type = call_.type,
                                          .rows = rows(),
                                          .channels = channels(),
                                          .x = matrix("x"),
                                          .residual = matrix("residual"),
                                          .y = matrix("y"),
                                          .norm = memory_.norm(),
                                          .clamp = clamp_of(call_.activation)},
                                         stream_);
    }
  }

  kernels::AffineCall affine() const {
    return {call_.type, rows(), memory_.norm(), matrix("scale").data, matrix("shift").data};
  }
  kernels::NormGradientCall norm_gradient(int rows) const {
    return {.type = call_.type,
            .rows = rows,
            .channels = channels(),
            .x = matrix("x"),
            .gradient = matrix("gradient"),
            .gradient2 = matrix("gradient2"),
            .norm = memory_.norm(),
            .clamp = clamp_of(call_.activation)};
  }
  kernels::NormSums norm_sums() const {
    return {.weight_gradient = floats("weight_gradient"),
            .bias_gradient = floats("bias_gradient"),
            .b = floats("b"),
            .c = floats("c"),
            .scratch = scratch_};
  }

  void run_norm_backward() const {
    const kernels::NormGradientCall gradient = norm_gradient(rows());
    const kernels::NormSums sums = norm_sums();
    const Matrix masked = matrix("masked"), output = matrix("output");
    switch (call_.kernel) {
      case Kernel::gradient_apply:
      case Kernel::gradient_apply_two:
      case Kernel::gradient_apply_masked:
        return kernels::launch_gradient_apply(gradient, call_.kernel == Kernel::gradient_apply_masked, sums.b, sums.c,
                                              matrix("dx"), stream_);
      case Kernel::lazy_accumulate_first:
      case Kernel::lazy_accumulate:
        return kernels::launch_lazy_accumulate(gradient, call_.type, matrix("total"),
                                               call_.kernel == Kernel::lazy_accumulate_first, sums, stream_);
      case Kernel::lazy_apply:
      case Kernel::lazy_apply_packed:
        return kernels::launch_lazy_apply({.type = call_.type,
                                           .total_type = call_.type,
                                           .rows = rows(),
                                           .channels = channels(),
                                           .x = matrix("x"),
                                           .total = matrix("total"),
                                           .dx = matrix(call_.kernel == Kernel::lazy_apply ? "total" : "dx"),
                                           .b = sums.b,
                                           .c = sums.c},
                                          stream_);
      default:
        return kernels::launch_gradient_sums(gradient, masked.exists() && !output.exists() ? gradient.x : output,
                                             masked, sums, stream_);
    }
  }

  kernels::PoolCall pool() const {
    return {.type = call_.type,
            .images = rows(),
            .channels = channels(),
            .shape = call_.pool,
            .x = matrix("x"),
            .y = matrix("y")};
  }

  void run_norm_pool() const {
    const kernels::NormPoolCall forward{pool(), memory_.norm(), clamp_of(call_.activation)};
    const kernels::NormGradientCall gradient = norm_gradient(rows() * call_.pool.pixels());
    auto* const winners = memory_.array<std::uint8_t>("winners");
    const kernels::PoolBetween between{rows(), call_.pool, winners};
    switch (call_.kernel) {
      case Kernel::norm_max_pool:
        return kernels::launch_norm_max_pool(forward, winners, stream_);
      case Kernel::norm_average_pool:
        return kernels::launch_norm_average_pool(forward, stream_);
      case Kernel::max_pooled_gradient_sums:
      case Kernel::average_pooled_gradient_sums:
        return kernels::launch_pooled_gradient_sums(gradient, between, norm_sums(), stream_);
      case Kernel::max_pooled_gradient_apply:
      case Kernel::average_pooled_gradient_apply:
        return kernels::launch_pooled_gradient_apply(gradient, between, floats("b"), floats("c"), matrix("dx"),
                                                     stream_);
      default:
        return kernels::launch_pooled_lazy_accumulate(gradient, between, matrix("total"), norm_sums(), stream_);
    }
  }

  void run_pool() const {
    const kernels::PoolCall pool = this->pool();
    switch (call_.kernel) {
      case Kernel::max_pool:
        return kernels::launch_max_pool(pool, memory_.array<std::uint8_t>("winners"), stream_);
      case Kernel::max_pool_backward:
        return kernels::launch_max_pool_backward(pool, memory_.array<std::uint8_t>("winners"), stream_);
      case Kernel::average_pool:
        return kernels::launch_average_pool(pool, stream_);
      case Kernel::average_pool_backward:
        return kernels::launch_average_pool_backward(pool, stream_);
      case Kernel::global_average:
        return kernels::launch_global_average(pool, stream_);
      case Kernel::global_average_backward:
        return kernels::launch_global_average_backward(pool, stream_);
      case Kernel::adaptive_average:
        return kernels::launch_adaptive_average(pool, stream_);
      default:
        return kernels::launch_adaptive_average_backward(pool, stream_);
    }
  }

  void run_layer() const {
    const kernels::UploadCall upload{call_.type, channels(), call_.items, matrix("to").data};
    switch (call_.kernel) {
      case Kernel::bias:
        return kernels::launch_bias({call_.type, rows(), channels(), floats("bias"), clamp_of(call_.activation)},
                                    matrix("x"), matrix("y"), stream_);
      case Kernel::bias_backward:
        return kernels::launch_bias_backward({.type = call_.type,
                                              .rows = rows(),
                                              .channels = channels(),
                                              .clamp = clamp_of(call_.activation),
                                              .output = matrix("output"),
                                              .gradient = matrix("gradient"),
                                              .bias_gradient = floats("bias_gradient"),
                                              .scratch = scratch_},
                                             matrix("dx"), stream_);
      case Kernel::dropout:
        return kernels::launch_dropout({.type = call_.type,
                                        .images = rows(),
                                        .channels = channels(),
                                        .pixels = call_.pool.pixels(),
                                        .from = matrix("from"),
                                        .to = matrix("to"),
                                        .scalars = memory_.scalars(),
                                        .seed = kDropoutSeed,
                                        .layer = kDropoutLayer,
                                        .rate = kDropRate},
                                       stream_);
      case Kernel::add:
        return kernels::launch_add({call_.type, rows(), channels(), matrix("from"), matrix("to")}, stream_);
      case Kernel::copy:
        return kernels::launch_copy({call_.type, rows(), channels(), matrix("from"), matrix("to")}, stream_);
      case Kernel::upload_gray:
        return kernels::launch_upload_gray(upload, memory_.array<std::uint8_t>("images"), kImageNorm, stream_);
      case Kernel::upload_color:
        return kernels::launch_upload_color(upload, floats("images"), stream_);
      case Kernel::upload_rgb:
        return kernels::launch_upload_rgb(upload, memory_.array<std::uint8_t>("images"), kImageNorm, stream_);
      default:
        return kernels::launch_loss({.type = call_.type,
                                     .batch = rows(),
                                     .outputs = call_.outputs,
                                     .ld = channels(),
                                     .logits = matrix("logits").data,
                                     .bias = floats("bias"),
                                     .gradient = matrix("gradient").data,
                                     .bias_gradient = floats("bias_gradient"),
                                     .targets = floats("targets"),
                                     .scalars = memory_.scalars(),
                                     .loss = floats("loss"),
                                     .biased = floats("biased")},
                                    stream_);
    }
  }

  void run_step() const {
    const kernels::AccumulateCall sum{call_.type, call_.items, matrix("gradient").data, floats("sum")};
    const kernels::UpdateCall update{.gradient_type = call_.type,
                                     .copy_type = call_.type,
                                     .count = call_.items,
                                     .gradient = matrix("gradient").data,
                                     .weight = floats("weight"),
                                     .copy = matrix("copy").data,
                                     .first = floats("first"),
                                     .second = floats("second"),
                                     .scalars = memory_.scalars()};
    switch (call_.kernel) {
      case Kernel::accumulate_first:
      case Kernel::accumulate:
        return kernels::launch_accumulate(sum, call_.kernel == Kernel::accumulate_first, stream_);
      case Kernel::average:
        return kernels::launch_average(sum, kBatchesOfStep, stream_);
      case Kernel::end_batch:
        return kernels::launch_end_batch(memory_.scalars(), stream_);
      case Kernel::overflow_check:
        return kernels::launch_overflow_check(call_.type, sum.gradient, call_.items, memory_.scalars(), stream_);
      case Kernel::set_learning_rate:
        return kernels::launch_set_learning_rate(memory_.scalars(), kLearningRate, stream_);
      case Kernel::decide:
        return kernels::launch_decide(memory_.scalars(), kStepRules, stream_);
      case Kernel::adam:
        return kernels::launch_adam(update, kStepRules, kAdamEpsilon, stream_);
      case Kernel::sgd:
        return kernels::launch_sgd(update, kMomentum, stream_);
      default:
        return kernels::launch_copy_weights(update, stream_);
    }
  }

  const KernelCall& call_;
  const KernelMemory& memory_;
  void* const scratch_;
  const Stream stream_;
};

}  // namespace

void launch_kernel(const KernelCall& call, const KernelMemory& memory, void* scratch, Stream stream) {
  Launch(call, memory, scratch, stream).run();
}

}  // namespace chexbench::engine::cuda
