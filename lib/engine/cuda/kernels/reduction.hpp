// Sums in a fixed order: the same input on the same device gives the same bits, which float atomics do not.
//
// A reduction is written in phases that a barrier separates, so that the host can run it in loops: every thread of a
// block gathers into scratch (shared memory), pairs of lanes fold until one is left, that one publishes.
#pragma once

#include <cstddef>

#include "engine/cuda/kernels/channel_grid.hpp"

namespace chexbench::engine::cuda::kernels {

// Lanes left after a fold of `active` ones: lane i takes in lane i + folded(active).
CHEXBENCH_HOST_DEVICE inline int folded(int active) { return (active + 1) / 2; }

// Two values of one channel, over `count` rows.
struct Pair {
  float first = 0;
  float second = 0;
};
CHEXBENCH_HOST_DEVICE inline Pair added(Pair a, Pair b) { return {a.first + b.first, a.second + b.second}; }

struct DoublePair {
  double first = 0;
  double second = 0;
};

// What one thread found, channel by channel.
template <int V>
struct Totals {
  Pair at[V];
};

// First stage: one Pair for each channel of each row of blocks, in partials[row_block * channels + channel].
// Op: kWidth, Totals<kWidth> sum(grid, lane), and static Pair merge(Pair a, float count_a, Pair b, float share), where
// b has `share` of the rows of both.
template <typename Op>
struct BlockSums {
  static constexpr int kThreads = kernels::kThreads;
  static constexpr int kWidth = Op::kWidth;
  struct Scratch {
    float first[kWidth * kThreads];  // [channel of the thread][thread]: neighbours use different banks
    float second[kWidth * kThreads];
    int count[kThreads];  // rows
  };

  Op op;
  ChannelGrid grid;
  Pair* partials = nullptr;

  CHEXBENCH_HOST_DEVICE int lanes() const { return grid.row_lanes; }

  CHEXBENCH_HOST_DEVICE void gather(int block, int thread, Scratch& scratch) const {
    const Lane lane = grid.lane(block, thread);
    Totals<kWidth> totals{};
    if (lane.active) totals = op.sum(grid, lane);
    for (int i = 0; i < kWidth; ++i) {
      scratch.first[i * kThreads + thread] = totals.at[i].first;
      scratch.second[i * kThreads + thread] = totals.at[i].second;
    }
    scratch.count[thread] = grid.row_lane(thread) < grid.row_lanes ? grid.rows_from(lane.row) : 0;
  }

  // Lanes have fewer rows the further on they are: where b has some, a has.
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

// Second stage, in double: a few hundred Pairs a channel, which cost nothing and lose nothing.
// Finish: static DoublePair term(Pair partial, int count), and void write(int channel, DoublePair sum) const.
template <typename Finish>
struct ChannelFinish {
  static constexpr int kChannels = 16;  // of a block: 128 bytes of partials side by side
  static constexpr int kLanes = 32;
  static constexpr int kThreads = kChannels * kLanes;
  struct Scratch {
    double first[kThreads];
    double second[kThreads];
  };

  Finish finish;
  ChannelGrid grid;  // of the first stage
  const Pair* partials = nullptr;

  int blocks() const { return (grid.channels + kChannels - 1) / kChannels; }
  CHEXBENCH_HOST_DEVICE int lanes() const { return kLanes; }

  CHEXBENCH_HOST_DEVICE void gather(int block, int thread, Scratch& scratch) const {
    const int channel = block * kChannels + thread % kChannels;
    DoublePair sum;
    if (channel < grid.channels) {
      for (int row_block = thread / kChannels; row_block < grid.row_blocks; row_block += kLanes) {
        const Pair partial = partials[std::int64_t{row_block} * grid.channels + channel];
        const DoublePair term = Finish::term(partial, grid.rows_of_block(row_block));
        sum.first += term.first;
        sum.second += term.second;
      }
    }
    scratch.first[thread] = sum.first;
    scratch.second[thread] = sum.second;
  }

  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active) * kChannels;
    if (other >= active * kChannels) return;
    scratch.first[thread] += scratch.first[other];
    scratch.second[thread] += scratch.second[other];
  }

  CHEXBENCH_HOST_DEVICE void publish(int block, int thread, const Scratch& scratch) const {
    const int channel = block * kChannels + thread;
    if (thread >= kChannels || channel >= grid.channels) return;
    finish.write(channel, {scratch.first[thread], scratch.second[thread]});
  }
};

// Blocks per multiprocessor of the first stage: enough loads in flight to fill any device's memory bus, few enough
// partial sums for the second.
inline constexpr int kSumBlocks = 4;

// What the partial sums of any reduction over at most `channels` channels take, whatever its element type and rows.
inline std::size_t reduction_scratch_bytes(int channels, int multiprocessors) {
  // A tile has at most kMostLanes lanes of at most 8 channels each.
  const int most_blocks = kSumBlocks * multiprocessors, most_channels = std::min(channels, kMostLanes * 8);
  return sizeof(Pair) * (static_cast<std::size_t>(most_blocks) * most_channels + static_cast<std::size_t>(channels));
}

}  // namespace chexbench::engine::cuda::kernels
