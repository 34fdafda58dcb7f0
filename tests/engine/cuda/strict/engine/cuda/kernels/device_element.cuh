// Uses the host's half types instead of the device's.
#pragma once

#include "engine/cuda/kernels/element.hpp"

namespace chexbench::engine::cuda::kernels {

using F16 = Half;
using BF16 = BFloat16;

}  // namespace chexbench::engine::cuda::kernels
