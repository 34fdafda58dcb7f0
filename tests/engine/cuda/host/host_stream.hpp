// Streams of the host twin: work runs when it is queued, or is kept for a graph that is being captured.
#pragma once

#include <functional>
#include <vector>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::host {

using Work = std::function<void()>;

// Queues work. As on a device, captured work keeps the arguments of its capture.
void enqueue(kernels::Stream stream, Work work);

// The launches on a device so far.
struct Launches {
  int kernels = 0;  // of our own
  int plans = 0;    // of cuDNN and cuBLASLt
};
Launches& launches();
// Launches that are only counted do nothing.
bool& only_counts_launches();
// Count a launch and queue its work.
void launch_kernel(kernels::Stream stream, Work work);
void launch_plan(kernels::Stream stream, Work work);

bool is_capturing();

}  // namespace chexbench::engine::cuda::host
