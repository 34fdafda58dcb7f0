#include "engine/cuda/sweep/kernel_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace chexbench::engine::cuda {
namespace {

struct Named {
  Kernel kernel;
  const char* name;
};

constexpr std::array kNames{
    Named{Kernel::statistics, "statistics"},
    Named{Kernel::moments, "moments"},
    Named{Kernel::running_update, "running_update"},
    Named{Kernel::moments_and_affine, "moments_and_affine"},
    Named{Kernel::affine, "affine"},
    Named{Kernel::normalize, "normalize"},
    Named{Kernel::normalize_residual, "normalize_residual"},
    Named{Kernel::gradient_sums, "gradient_sums"},
    Named{Kernel::gradient_sums_two, "gradient_sums_two"},
    Named{Kernel::gradient_sums_residual, "gradient_sums_residual"},
    Named{Kernel::gradient_sums_residual_two, "gradient_sums_residual_two"},
    Named{Kernel::gradient_apply, "gradient_apply"},
    Named{Kernel::gradient_apply_two, "gradient_apply_two"},
    Named{Kernel::gradient_apply_masked, "gradient_apply_masked"},
    Named{Kernel::lazy_accumulate_first, "lazy_accumulate_first"},
    Named{Kernel::lazy_accumulate, "lazy_accumulate"},
    Named{Kernel::lazy_apply, "lazy_apply"},
    Named{Kernel::lazy_apply_packed, "lazy_apply_packed"},
    Named{Kernel::norm_max_pool, "norm_max_pool"},
    Named{Kernel::norm_average_pool, "norm_average_pool"},
    Named{Kernel::max_pooled_gradient_sums, "max_pooled_gradient_sums"},
    Named{Kernel::average_pooled_gradient_sums, "average_pooled_gradient_sums"},
    Named{Kernel::max_pooled_gradient_apply, "max_pooled_gradient_apply"},
    Named{Kernel::average_pooled_gradient_apply, "average_pooled_gradient_apply"},
    Named{Kernel::average_pooled_lazy_accumulate, "average_pooled_lazy_accumulate"},
    Named{Kernel::max_pool, "max_pool"},
    Named{Kernel::max_pool_backward, "max_pool_backward"},
    Named{Kernel::average_pool, "average_pool"},
    Named{Kernel::average_pool_backward, "average_pool_backward"},
    Named{Kernel::global_average, "global_average"},
    Named{Kernel::global_average_backward, "global_average_backward"},
    Named{Kernel::adaptive_average, "adaptive_average"},
    Named{Kernel::adaptive_average_backward, "adaptive_average_backward"},
    Named{Kernel::bias, "bias"},
    Named{Kernel::bias_backward, "bias_backward"},
    Named{Kernel::dropout, "dropout"},
    Named{Kernel::add, "add"},
    Named{Kernel::copy, "copy"},
    Named{Kernel::upload_gray, "upload_gray"},
    Named{Kernel::upload_color, "upload_color"},
    Named{Kernel::upload_rgb, "upload_rgb"},
    Named{Kernel::loss, "loss"},
    Named{Kernel::accumulate_first, "accumulate_first"},
    Named{Kernel::accumulate, "accumulate"},
    Named{Kernel::average, "average"},
    Named{Kernel::end_batch, "end_batch"},
    Named{Kernel::overflow_check, "overflow_check"},
    Named{Kernel::set_learning_rate, "set_learning_rate"},
    Named{Kernel::decide, "decide"},
    Named{Kernel::adam, "adam"},
    Named{Kernel::sgd, "sgd"},
    Named{Kernel::copy_weights, "copy_weights"},
};

constexpr auto kKernels = [] {
  std::array<Kernel, kNames.size()> all{};
  std::ranges::transform(kNames, all.begin(), &Named::kernel);
  return all;
}();

std::string pool_text(const kernels::PoolShape& pool) {
  if (pool.height == 0) return {};
  std::string text = fmt::format(" of {}x{}", pool.height, pool.width);
  if (pool.out_height > 0) text += fmt::format(" to {}x{}", pool.out_height, pool.out_width);
  if (pool.kernel > 0) text += fmt::format(" k{} s{} p{}", pool.kernel, pool.stride, pool.padding);
  return text;
}

}  // namespace

std::span<const Kernel> all_kernels() { return kKernels; }

std::string to_string(Kernel kernel) { return std::ranges::find(kNames, kernel, &Named::kernel)->name; }

std::string shape_text(const KernelCall& call) {
  constexpr const char* kActivations[] = {"", " relu", " relu6"};
  constexpr const char* kTypes[] = {" f32", " f16", " bf16"};
  std::string text = fmt::format("{}x{}", call.items, call.channels) + pool_text(call.pool);
  const auto add_ld = [&](const char* of, int ld) {
    if (ld != 0 && ld != call.channels) text += fmt::format(" {} /{}", of, ld);
  };
  add_ld("in", call.in_ld);
  add_ld("out", call.out_ld);
  add_ld("residual", call.residual_ld);
  if (call.outputs > 0) text += fmt::format(" outputs {}", call.outputs);
  if (call.inverse_deviation) text += " with 1/deviation";
  return text + kActivations[static_cast<int>(call.activation)] + kTypes[static_cast<int>(call.type)];
}

}  // namespace chexbench::engine::cuda
