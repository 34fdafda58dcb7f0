// CUDA's half types as elements: each conversion is one instruction, while the host's half types (core/half.hpp) need
// many.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

using F16 = __half;
using BF16 = __nv_bfloat16;

template <>
struct Element<__half> {
  CHEXBENCH_HOST_DEVICE static float widen(__half value) { return __half2float(value); }
  CHEXBENCH_HOST_DEVICE static __half narrow(float value) { return __float2half_rn(value); }
};

template <>
struct Element<__nv_bfloat16> {
  CHEXBENCH_HOST_DEVICE static float widen(__nv_bfloat16 value) { return __bfloat162float(value); }
  CHEXBENCH_HOST_DEVICE static __nv_bfloat16 narrow(float value) { return __float2bfloat16_rn(value); }
};

}  // namespace chexbench::engine::cuda::kernels
