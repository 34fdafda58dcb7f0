// Convolutions on the host with plain sums in f32.
#pragma once

#include <vector>

#include "engine/cuda/convolution/conv_pattern.hpp"
#include "engine/cuda/convolution/plan_cache.hpp"

namespace chexbench::engine::cuda::host {

// Computes the result of a plan for the request. @throws DeviceError for a pattern that it does not know
void run(const PlanRequest& request, const std::vector<OperandMemory>& memory);

}  // namespace chexbench::engine::cuda::host
