// A call of one of the engine's own kernels: what it computes, and on what shape. Plain data, so that a list of calls
// can be made and tested without a device.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/pool_window.hpp"
#include "engine/cuda/program/program.hpp"

namespace chexbench::engine::cuda {

// One value for each launcher of kernels/*_launch.hpp, or several where arguments decide how many bytes it moves. They
// stand in groups (norms, norms with pools, pools, other layers, the end of a step) that other files tell apart by
// their order.
enum class Kernel {
  statistics,
  moments,
  running_update,
  moments_and_affine,
  affine,
  normalize,
  normalize_residual,
  gradient_sums,
  gradient_sums_two,
  gradient_sums_residual,
  gradient_sums_residual_two,
  gradient_apply,
  gradient_apply_two,
  gradient_apply_masked,
  lazy_accumulate_first,
  lazy_accumulate,
  lazy_apply,
  lazy_apply_packed,
  norm_max_pool,
  norm_average_pool,
  max_pooled_gradient_sums,
  average_pooled_gradient_sums,
  max_pooled_gradient_apply,
  average_pooled_gradient_apply,
  average_pooled_lazy_accumulate,
  max_pool,
  max_pool_backward,
  average_pool,
  average_pool_backward,
  global_average,
  global_average_backward,
  adaptive_average,
  adaptive_average_backward,
  bias,
  bias_backward,
  dropout,
  add,
  copy,
  upload_gray,
  upload_color,
  upload_rgb,
  loss,
  accumulate_first,
  accumulate,
  average,
  end_batch,
  overflow_check,
  set_learning_rate,
  decide,
  adam,
  sgd,
  copy_weights,
};

// Returns all of them, in that order.
std::span<const Kernel> all_kernels();
// Returns the enumerator's name.
std::string to_string(Kernel kernel);

// How a step calls a kernel. Pointers are left out, because each call is timed in memory of its own.
struct KernelCall {
  Kernel kernel = Kernel::statistics;
  kernels::ElementType type = kernels::ElementType::f32;
  std::int64_t items = 1;  // rows; of pools and dropout, images; of flat arrays, elements
  int channels = 1;
  // The distances between rows, in elements, of the inputs and outputs of a node, and of the residual it adds. 0 means
  // that rows follow one another.
  int in_ld = 0, out_ld = 0, residual_ld = 0;
  Activation activation = Activation::none;
  kernels::PoolShape pool{};       // also the image of dropout
  int outputs = 0;                 // of the loss, without padding
  bool inverse_deviation = false;  // statistics and moments: whether they write it too
};

// Returns the shape for people, e.g. "802816x64 relu f16". It tells all that the call says, but for the kernel.
std::string shape_text(const KernelCall& call);

// Whether two calls do the same work.
inline bool same(const KernelCall& a, const KernelCall& b) {
  return a.kernel == b.kernel && shape_text(a) == shape_text(b);
}

}  // namespace chexbench::engine::cuda
