// Runs the kernels' operations on the host. Loops over blocks and threads replace a launch, in the phases that barriers
// separate on the device.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Op>
void run_channels(const Op& op, int rows, int channels, int width, int most_blocks = 7) {
  const auto grid = ChannelGrid::of(rows, channels, width, most_blocks);
  for (int block = 0; block < grid.blocks(); ++block) {
    for (int thread = 0; thread < kThreads; ++thread) run_lane(op, grid, block, thread);
  }
}

template <typename R>
void run_reduction(const R& reduction, int blocks) {
  for (int block = 0; block < blocks; ++block) {
    typename R::Scratch scratch;
    for (int thread = 0; thread < R::kThreads; ++thread) reduction.gather(block, thread, scratch);
    for (int active = reduction.lanes(); active > 1; active = folded(active)) {
      for (int thread = 0; thread < R::kThreads; ++thread) reduction.fold(thread, active, scratch);
    }
    for (int thread = 0; thread < R::kThreads; ++thread) reduction.publish(block, thread, scratch);
  }
}

template <typename Op, typename Finish>
void run_sums(const Op& op, const Finish& finish, int rows, int channels, int most_blocks = 7) {
  const auto grid = ChannelGrid::of(rows, channels, Op::kWidth, most_blocks);
  std::vector<Pair> partials(static_cast<std::size_t>(grid.row_blocks) * channels, Pair{1e30f, 1e30f});
  run_reduction(BlockSums<Op>{op, grid, partials.data()}, grid.blocks());
  const ChannelFinish<Finish> last{finish, grid, partials.data()};
  run_reduction(last, last.blocks());
}

template <typename Op>
void run_calls(const Op& op, std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) op(i);
}

}  // namespace chexbench::engine::cuda::kernels
