// A device's streams on the host: work runs when it is queued, or is kept for a graph that is being captured.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::host {

using Work = std::function<void()>;

// As on a device, what was captured keeps the arguments that it was queued with.
void enqueue(kernels::Stream stream, Work work);
bool is_capturing();

}  // namespace chexbench::engine::cuda::host
