// Replaces the launchers' launch.cuh: operations run on the host, in the order of their stream (host_stream.hpp).
#pragma once

#include <algorithm>

#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/kernels/dispatch.hpp"
#include "engine/cuda/kernels/host_run.hpp"
#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr int cudaSuccess = 0, cudaErrorInvalidValue = 1;

template <typename Op>
void launch_channels(const Op& op, int rows, int channels, int width, Stream stream) {
  host::enqueue(stream, [=] { run_channels(op, rows, channels, width, 2 * multiprocessors()); });
}

template <typename Op>
void launch_calls(const Op& op, std::int64_t calls, Stream stream) {
  host::enqueue(stream, [=] { run_calls(op, calls); });
}

template <typename R>
void launch_blocks(const R& reduction, int blocks, Stream stream) {
  host::enqueue(stream, [=] { run_reduction(reduction, blocks); });
}

template <typename Op, typename Finish>
void launch_sums(const Op& op, const Finish& finish, int rows, int channels, void* scratch, Stream stream) {
  const int most = kSumBlocks * multiprocessors();
  const BlockSums<Op> sums{op, ChannelGrid::of(rows, channels, Op::kWidth, most), static_cast<Pair*>(scratch)};
  launch_blocks(sums, sums.grid.blocks(), stream);
  const ChannelFinish<Finish> last{finish, sums.grid, sums.partials};
  launch_blocks(last, last.blocks(), stream);
}

}  // namespace chexbench::engine::cuda::kernels
