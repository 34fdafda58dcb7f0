// A small call of each kernel.
#pragma once

#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {

inline constexpr kernels::PoolShape kWindows{
    .height = 9, .width = 8, .out_height = 5, .out_width = 4, .kernel = 3, .stride = 2, .padding = 1};
// As norms take them in; the last line of pixels is in no window.
inline constexpr kernels::PoolShape kSquares{
    .height = 9, .width = 8, .out_height = 4, .out_width = 4, .kernel = 2, .stride = 2};

inline bool takes_squares(Kernel kernel) {
  return kernel == Kernel::norm_average_pool || kernel == Kernel::average_pooled_gradient_sums ||
         kernel == Kernel::average_pooled_gradient_apply || kernel == Kernel::average_pooled_lazy_accumulate;
}

// Returns a small call of the kernel, with rows that have gaps where the engine has such rows.
inline KernelCall small_call(Kernel kernel, FloatType type) {
  const KernelGroup group = traits_of(kernel).group;
  KernelCall call{.kernel = kernel, .type = type, .items = 3000, .channels = 24, .activation = Activation::relu};
  if (group == KernelGroup::norm_pool || group == KernelGroup::pool) {
    call.items = 5;
    call.pool = takes_squares(kernel) ? kSquares : kWindows;
    if (kernel == Kernel::global_average || kernel == Kernel::global_average_backward)
      call.pool.out_height = call.pool.out_width = 1;
  } else if (kernel == Kernel::dropout) {
    call.items = 7;
    call.pool = {.height = 2, .width = 3};
  } else if (kernel >= Kernel::upload_gray && kernel <= Kernel::upload_rgb) {
    call.channels = 4;
  } else if (kernel == Kernel::loss) {
    call.items = 6;
    call.channels = 16;
    call.outputs = 14;
  } else if (group == KernelGroup::step || (kernel > Kernel::statistics && kernel < Kernel::normalize)) {
    call.channels = 1;
    if (operands(call).size() == 1) call.items = 1;
  } else if (kernel == Kernel::copy) {
    call.out_ld = 64;
  } else {
    call.in_ld = 64;
  }
  return call;
}

// Returns one of every kernel, those of two kernels that an activation makes another one, and those that also write an
// inverse deviation.
inline std::vector<KernelCall> small_calls(FloatType type) {
  std::vector<KernelCall> calls;
  for (const Kernel kernel : all_kernels()) calls.push_back(small_call(kernel, type));
  for (const Kernel kernel : {Kernel::gradient_sums_residual, Kernel::bias_backward}) {
    calls.push_back(small_call(kernel, type));
    calls.back().activation = Activation::none;
  }
  for (const Kernel kernel : {Kernel::statistics, Kernel::moments, Kernel::moments_and_affine}) {
    calls.push_back(small_call(kernel, type));
    calls.back().inverse_deviation = true;
  }
  return calls;
}

}  // namespace chexbench::engine::cuda
