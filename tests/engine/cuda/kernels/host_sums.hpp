// The second half of a twin of launch.cuh: both stages of a reduction, through the twin's own launch_blocks().
#pragma once

#include "engine/cuda/kernels/device_tensor.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Op, typename Finish>
void launch_sums(const Op& op, const Finish& finish, int rows, int channels, void* scratch, Stream stream) {
  const int most = kSumBlocks * multiprocessors();
  const BlockSums<Op> sums{op, ChannelGrid::of(rows, channels, Op::kWidth, most), static_cast<Pair*>(scratch)};
  launch_blocks(sums, sums.grid.blocks(), stream);
  const ChannelFinish<Finish> last{finish, sums.grid, sums.partials};
  launch_blocks(last, last.blocks(), stream);
}

}  // namespace chexbench::engine::cuda::kernels
