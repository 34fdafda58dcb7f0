// Streams of the host twin: work runs when it is queued, or is kept for a graph that is being captured.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::host {

using Work = std::function<void()>;

// Queues work. As on a device, captured work keeps the arguments of its capture.
void enqueue(kernels::Stream stream, Work work);
bool is_capturing();

}  // namespace chexbench::engine::cuda::host
