// The second half of a twin of launch.cuh: sums, through the twin's own launch_blocks().
#pragma once

#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/launch_check.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Op, typename Finish>
void launch_sums(const Op& op, const Finish& finish, int rows, int channels, void* scratch, Stream stream) {
  const ChannelGrid grid = sums_grid(rows, channels, Op::kWidth, kSumBlocks * multiprocessors());
  launch_blocks(ChannelSums<Op, Finish>::of(op, finish, grid, scratch), grid.blocks(), stream);
}

}  // namespace chexbench::engine::cuda::kernels
