// Sums in a fixed order: the same input on the same device gives the same bits, which atomic float additions do not.
//
// A reduction is written in phases that a barrier separates, so that the host can run it in loops: first every thread
// of a block gathers into scratch (shared memory), then pairs of lanes are folded until one is left, and that lane
// publishes the result.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/channel_grid.hpp"

namespace chexbench::engine::cuda::kernels {

// Returns how many lanes are left after a fold of `active` lanes: lane i adds lane i + folded(active) to itself.
CHEXBENCH_HOST_DEVICE inline int folded(int active) { return (active + 1) / 2; }

// Two sums of one channel over some rows.
struct alignas(8) Pair {
  float first = 0;
  float second = 0;
};
CHEXBENCH_HOST_DEVICE inline Pair added(Pair a, Pair b) { return {a.first + b.first, a.second + b.second}; }

struct DoublePair {
  double first = 0;
  double second = 0;
};
CHEXBENCH_HOST_DEVICE inline DoublePair added(DoublePair a, DoublePair b) {
  return {a.first + b.first, a.second + b.second};
}

// The sums of one thread, channel by channel.
template <int V>
struct Totals {
  Pair at[V];
};

// Writes one Pair for each channel of each row of blocks to partials[row_block * channels + channel]. Op
// must have kWidth, a Worker(op, lane) that for_rows() passes the rows of a lane to and whose result(rows) is their
// Totals<kWidth>, and static Pair merge(Pair a, float count_a, Pair b, float share), where a has count_a rows and
// `share` is b's share of the rows of both.
template <typename Op>
struct BlockSums {
  static constexpr int kThreads = kernels::kThreads;
  static constexpr int kWidth = Op::kWidth;
  struct Scratch {
    float first[kWidth * kThreads];  // [channel of the thread][thread]: neighbours use different banks.
    float second[kWidth * kThreads];
    int count[kThreads];  // Rows.
  };

  Op op;
  ChannelGrid grid;
  Pair* partials = nullptr;

  CHEXBENCH_HOST_DEVICE int lanes() const { return grid.row_lanes; }

  CHEXBENCH_HOST_DEVICE void gather(int block, int thread, Scratch& scratch) const {
    const Lane lane = grid.lane(block, thread);
    Totals<kWidth> totals{};
    if (lane.active) {
      typename Op::Worker worker(op, lane);
      for_rows(grid, lane.row, worker);
      totals = worker.result(grid.rows_from(lane.row));
    }
    for (int i = 0; i < kWidth; ++i) {
      scratch.first[i * kThreads + thread] = totals.at[i].first;
      scratch.second[i * kThreads + thread] = totals.at[i].second;
    }
    scratch.count[thread] = grid.row_lane(thread) < grid.row_lanes ? grid.rows_from(lane.row) : 0;
  }

  // Later lanes never have more rows than earlier ones: if b has rows, a has rows.
  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active) * grid.lanes;
    if (grid.row_lane(other) >= active || scratch.count[other] == 0) return;
    const auto count = static_cast<float>(scratch.count[thread]);
    const float share = static_cast<float>(scratch.count[other]) / (count + static_cast<float>(scratch.count[other]));
    for (int i = 0; i < kWidth; ++i) {
      const int to = i * kThreads + thread, from = i * kThreads + other;
      const Pair a{scratch.first[to], scratch.second[to]}, b{scratch.first[from], scratch.second[from]};
      const Pair merged = Op::merge(a, count, b, share);
      scratch.first[to] = merged.first;
      scratch.second[to] = merged.second;
    }
    scratch.count[thread] += scratch.count[other];
  }

  CHEXBENCH_HOST_DEVICE void publish(int block, int thread, const Scratch& scratch) const {
    const Lane lane = grid.lane(block, thread);
    if (grid.row_lane(thread) != 0 || lane.channel >= grid.channels) return;
    Pair* const to = partials + std::int64_t{grid.row_block(block)} * grid.channels + lane.channel;
    for (int i = 0; i < kWidth; ++i)
      to[i] = {scratch.first[i * kThreads + thread], scratch.second[i * kThreads + thread]};
  }
};

// The work of one thread of a reduction after it has gathered; barrier() waits for all threads of the block. No barrier
// is needed before publish, because a publishing thread reads only what it wrote itself.
template <typename R, typename Barrier>
CHEXBENCH_HOST_DEVICE void fold_and_publish(const R& reduction, int block, int thread, typename R::Scratch& scratch,
                                            const Barrier& barrier) {
  for (int active = reduction.lanes(); active > 1; active = folded(active)) {
    barrier();
    reduction.fold(thread, active, scratch);
  }
  reduction.publish(block, thread, scratch);
}

// The whole work of one thread.
template <typename R, typename Barrier>
CHEXBENCH_HOST_DEVICE void run_thread(const R& reduction, int block, int thread, typename R::Scratch& scratch,
                                      const Barrier& barrier) {
  reduction.gather(block, thread, scratch);
  fold_and_publish(reduction, block, thread, scratch, barrier);
}

}  // namespace chexbench::engine::cuda::kernels
