// Fills the kernel tables for the instruction set that the including file is compiled for. Only kernels_*.cpp may
// include this header.
#pragma once

#include "engine/onednn/norm_kernels.hpp"
#include "engine/onednn/pool_kernels.hpp"
#include "engine/onednn/update_kernels.hpp"

namespace chexbench::engine::onednn {
namespace {

template <typename T, int B>
constexpr Kernels table(FloatType type) {
  return {.block = B,
          .type = type,
          .statistics = statistics<T, B>,
          .copy_statistics = copy_statistics<T, B>,
          .normalize = normalize<T, B>,
          .gradient_sums = gradient_sums<T, B>,
          .gradient_apply = gradient_apply<T, B>,
          .gradient_accumulate = gradient_accumulate<T, B>,
          .gradient_finish = gradient_finish<T, B>,
          .add = add<T, B>,
          .max_pool = max_pool<T, B>,
          .max_pool_backward = max_pool_backward<T, B>,
          .average_pool = average_pool<T, B>,
          .average_pool_backward = average_pool_backward<T, B>,
          .global_average = global_average<T, B>,
          .global_average_backward = global_average_backward<T, B>};
}

constexpr KernelTables all_tables() {
  return {{{table<float, 8>(FloatType::f32), table<float, 16>(FloatType::f32)},
           {table<BFloat16, 8>(FloatType::bf16), table<BFloat16, 16>(FloatType::bf16)}},
          {.adam = adam, .sgd = sgd, .average = average}};
}

}  // namespace
}  // namespace chexbench::engine::onednn
