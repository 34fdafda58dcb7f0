// Replaces the launchers' launch.cuh: operations run on the host, in the order of their stream (host_stream.hpp).
#pragma once

#include <algorithm>

#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/kernels/dispatch.hpp"
#include "engine/cuda/kernels/host_run.hpp"
#include "engine/cuda/kernels/host_sums.hpp"
#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1;

template <typename Op>
void launch_channels(const Op& op, int rows, int channels, int width, Stream stream) {
  host::launch_kernel(stream, [=] { run_channels(op, rows, channels, width, 2 * multiprocessors()); });
}

template <typename Op>
void launch_calls(const Op& op, std::int64_t calls, Stream stream) {
  host::launch_kernel(stream, [=] { run_calls(op, calls); });
}

template <typename R>
void launch_blocks(const R& reduction, int blocks, Stream stream) {
  host::launch_kernel(stream, [=] { run_reduction(reduction, blocks); });
}

}  // namespace chexbench::engine::cuda::kernels
