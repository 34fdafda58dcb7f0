// Assigns work to threads in kernels over [rows][channels] whose channels are contiguous (NHWC: a row is a pixel). A
// thread keeps its channels and walks down the rows: values that depend on the channel alone (scales, sums) stay in
// registers and are read once, not once per pixel.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/cuda/kernels/device_tensor.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr int kThreads = 256;
inline constexpr int kMostLanes = 32;  // 32 x 16 bytes of one row, enough to stream whole memory pages.
inline constexpr int kLineLanes = 8;   // 8 x 16 bytes are a line of the cache.

// The share of one thread: `width` channels starting at `channel`, of every row_step()-th row starting at `row`.
struct Lane {
  int channel = 0;
  int row = 0;
  bool active = false;
};

struct ChannelGrid {
  int rows = 0;  // At most 2^30.
  int channels = 0;
  int width = 1;       // Channels of one thread.
  int lanes = 1;       // Threads of a block along the channels.
  int tiles = 1;       // Blocks along the channels.
  int row_lanes = 1;   // Threads of a block along the rows.
  int row_blocks = 1;  // Blocks along the rows.

  // Returns a grid of at most `most_blocks` blocks, but at least one block for each tile. `channels` must be a multiple
  // of `width`.
  static ChannelGrid of(int rows, int channels, int width, int most_blocks, int most_lanes = kMostLanes) {
    const int vectors = channels / width;
    ChannelGrid grid{.rows = rows, .channels = channels, .width = width};
    grid.lanes = lanes_of(vectors, width, most_lanes);
    grid.tiles = (vectors + grid.lanes - 1) / grid.lanes;
    grid.row_lanes = kThreads / grid.lanes;
    const int useful = (rows + grid.row_lanes - 1) / grid.row_lanes;
    grid.row_blocks = std::max(1, std::min(most_blocks / grid.tiles, useful));
    return grid;
  }

  // Returns how many threads share a row of a tile. If there are several tiles, they are whole cache lines: otherwise
  // two blocks fetch the line in which a tile ends, and each writes a part of it. On an H200, sums over dense blocks in
  // tiles of 10 to 15 vectors reached 0.69 of a copy's bandwidth, in tiles of 16 vectors 0.93. Among sizes of whole
  // lines, this one leaves the fewest threads of the last tile idle, or else is the widest. Single elements use the
  // widest tiles: their bandwidth is always low.
  static int lanes_of(int vectors, int width, int most_lanes) {
    if (vectors <= most_lanes) return vectors;
    if (width == 1) return most_lanes;
    const auto idle = [vectors](int tile) { return (tile - vectors % tile) % tile; };
    int best = most_lanes;
    for (int tile = most_lanes / 2; tile >= kLineLanes; tile /= 2) {
      if (idle(tile) < idle(best)) best = tile;
    }
    return best;
  }

  CHEXBENCH_HOST_DEVICE int blocks() const { return tiles * row_blocks; }
  CHEXBENCH_HOST_DEVICE int row_step() const { return row_lanes * row_blocks; }
  CHEXBENCH_HOST_DEVICE int row_lane(int thread) const { return thread / lanes; }
  CHEXBENCH_HOST_DEVICE int row_block(int block) const { return block / tiles; }
  CHEXBENCH_HOST_DEVICE Lane lane(int block, int thread) const {
    const int channel = (block % tiles * lanes + thread % lanes) * width;
    const int row = row_block(block) * row_lanes + row_lane(thread);
    return {channel, row, row_lane(thread) < row_lanes && channel < channels && row < rows};
  }
  // Number of rows of the thread that begins at `row`.
  CHEXBENCH_HOST_DEVICE int rows_from(int row) const { return row < rows ? (rows - row - 1) / row_step() + 1 : 0; }
  // Number of rows that the threads with this row_block have together.
  CHEXBENCH_HOST_DEVICE int rows_of_block(int row_block) const {
    const int rest = rows % row_step() - row_block * row_lanes;
    return rows / row_step() * row_lanes + (rest < 0 ? 0 : rest < row_lanes ? rest : row_lanes);
  }
};

// Returns whether a slice can be moved in vectors of 16 bytes, `width` elements each.
inline bool whole_vectors(const void* data, std::int64_t ld, int channels, int width) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % width == 0 && channels % width == 0;
}

// Passes all rows of a lane to a worker: `load` fetches the operands of one row, `use` does the rest. The loads of
// kUnroll rows are issued before the first is used, so that a thread has several loads in flight. A worker may write
// where it reads, because no other thread has its rows.
template <typename Worker>
CHEXBENCH_HOST_DEVICE void for_rows(const ChannelGrid& grid, int row, Worker& worker) {
  constexpr int kUnroll = Worker::kUnroll;
  const int step = grid.row_step();
  int left = grid.rows_from(row);
  for (; left >= kUnroll; left -= kUnroll, row += kUnroll * step) {
    typename Worker::Loaded loaded[kUnroll];
    for (int u = 0; u < kUnroll; ++u) loaded[u] = worker.load(row + u * step);
    for (int u = 0; u < kUnroll; ++u) worker.use(row + u * step, loaded[u]);
  }
  for (; left > 0; --left, row += step) worker.use(row, worker.load(row));
}

// The work of one thread of an elementwise kernel.
template <typename Op>
CHEXBENCH_HOST_DEVICE void run_lane(const Op& op, const ChannelGrid& grid, int block, int thread) {
  const Lane lane = grid.lane(block, thread);
  if (!lane.active) return;
  typename Op::Worker worker(op, lane.channel);
  for_rows(grid, lane.row, worker);
}

}  // namespace chexbench::engine::cuda::kernels
