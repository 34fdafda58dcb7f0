// Runs the kernels' operations on the host. Loops over blocks and threads replace a launch, in the phases that barriers
// separate on the device.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/cuda/kernels/channel_sums.hpp"

namespace chexbench::engine::cuda::kernels {

template <typename Op>
void run_channels(const Op& op, int rows, int channels, int width, int most_blocks = 7) {
  const auto grid = ChannelGrid::of(rows, channels, width, most_blocks);
  for (int block = 0; block < grid.blocks(); ++block) {
    for (int thread = 0; thread < kThreads; ++thread) run_lane(op, grid, block, thread);
  }
}

template <typename R>
void run_block(const R& reduction, int block, typename R::Scratch& scratch) {
  for (int thread = 0; thread < R::kThreads; ++thread) reduction.gather(block, thread, scratch);
  for (int active = reduction.lanes(); active > 1; active = folded(active)) {
    for (int thread = 0; thread < R::kThreads; ++thread) reduction.fold(thread, active, scratch);
  }
  for (int thread = 0; thread < R::kThreads; ++thread) reduction.publish(block, thread, scratch);
}

template <typename R>
void run_reduction(const R& reduction, int blocks) {
  for (int block = 0; block < blocks; ++block) {
    typename R::Scratch scratch;
    run_block(reduction, block, scratch);
  }
}

// Of blocks that run one after another.
struct NoSync {
  void operator()() const {}
  unsigned draw(unsigned* ticket) const { return (*ticket)++; }
};

template <typename Op, typename Finish>
void run_block(const ChannelSums<Op, Finish>& sums, int block, typename ChannelSums<Op, Finish>::Scratch& scratch) {
  run_block(sums.blocks, block, scratch.blocks);
  if (!draws_last(sums.group_ticket(block), sums.group_blocks(block), 0, scratch.last, NoSync{})) return;
  for (int thread = 0; thread < kThreads; ++thread) sums.group.add_up(block, thread);
  if (!draws_last(sums.tile_ticket(block), sums.group.groups.count(), 0, scratch.last, NoSync{})) return;
  run_block(sums.tile, block, scratch.tile);
}

// Memory of sums, as a launcher finds it.
inline std::vector<double> sums_memory(const ChannelGrid& grid) {
  const std::size_t pairs = static_cast<std::size_t>(grid.row_blocks + 2 * kSumGroups) * grid.channels;
  std::vector<double> memory(kTicketBytes / sizeof(double) + pairs, 1e30);
  std::fill_n(memory.begin(), kTicketBytes / sizeof(double), 0.0);
  return memory;
}

// The default gives several tiles of channels groups of more blocks than one, if there are rows for them.
template <typename Op, typename Finish>
void run_sums(const Op& op, const Finish& finish, int rows, int channels, int most_blocks = 150) {
  const ChannelGrid grid = sums_grid(rows, channels, Op::kWidth, most_blocks);
  std::vector<double> memory = sums_memory(grid);
  run_reduction(ChannelSums<Op, Finish>::of(op, finish, grid, memory.data()), grid.blocks());
}

template <typename Op>
void run_calls(const Op& op, std::int64_t calls) {
  for (std::int64_t i = 0; i < calls; ++i) op(i);
}

}  // namespace chexbench::engine::cuda::kernels
