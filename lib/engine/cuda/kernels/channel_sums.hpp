// Sums over all rows, channel by channel, in one launch. The blocks write partial sums (reduction.hpp), and the last
// block to finish adds them up. Each block draws a ticket when its partial sums are written, so the block with the last
// ticket knows that all of them are there. This follows CUDA's sample threadFenceReduction, but here no result depends
// on which block was last: partial sums are added in the order of their blocks.
//
// One block that reads the partial sums of all others would take longer than the launch of a second kernel: 528 blocks
// of 64 channels leave 270 KB. So there are two rounds. The blocks of a tile of channels form up to kSumGroups groups:
// the last of a group adds up its group, and the last of these adds up the groups and writes the results.
#pragma once

#include <cstddef>
#include <stdexcept>

#include "engine/cuda/kernels/reduction.hpp"

namespace chexbench::engine::cuda::kernels {

inline constexpr int kSumGroups = 32;  // of 17 blocks each on 132 multiprocessors
// Blocks per multiprocessor: enough loads in flight to saturate the memory bus of any device, and few enough partial
// sums.
inline constexpr int kSumBlocks = 4;
// Channels of a tile, at most. Wide tiles would leave much to the block that finishes one: it reads kSumGroups sums of
// each channel.
inline constexpr int kSumChannels = 128;
inline constexpr int kMostSumTiles = 1024;

// Returns how many threads a block has along the channels, at most, if each has `width` channels.
constexpr int sum_lanes(int width) { return std::min(kMostLanes, kSumChannels / width); }

// The memory that the blocks of a launch share. One piece of memory serves any sequence of launches: tickets are always
// at its beginning, and are 0 between launches.
struct SumsMemory {
  static constexpr std::size_t kTickets = std::size_t{kMostSumTiles} * (kSumGroups + 1);  // of each group, of each tile

  unsigned* tickets = nullptr;
  DoublePair* groups = nullptr;  // [kSumGroups][channels]
  Pair* partials = nullptr;      // [row blocks][channels]

  static SumsMemory at(void* memory, int channels) {
    auto* const tickets = static_cast<unsigned*>(memory);
    auto* const groups = reinterpret_cast<DoublePair*>(tickets + kTickets);
    return {tickets, groups, reinterpret_cast<Pair*>(groups + std::ptrdiff_t{kSumGroups} * channels)};
  }
};

// The bytes at the beginning of the memory that must be set to 0 once, before its first use.
inline constexpr std::size_t kTicketBytes = SumsMemory::kTickets * sizeof(unsigned);

// Returns the bytes of memory for the sums of at most `channels` channels, for any element type and number of rows.
// @throws std::logic_error for more channels than there are tickets for
inline std::size_t reduction_scratch_bytes(int channels, int multiprocessors) {
  if (channels > kMostSumTiles * sum_lanes(1)) throw std::logic_error("sums of that many channels need more tickets");
  const int most_blocks = kSumBlocks * multiprocessors, most_channels = std::min(channels, kSumChannels);
  return kTicketBytes + sizeof(DoublePair) * kSumGroups * static_cast<std::size_t>(channels) +
         sizeof(Pair) * (static_cast<std::size_t>(most_blocks) * static_cast<std::size_t>(most_channels) +
                         static_cast<std::size_t>(channels));
}

inline ChannelGrid sums_grid(int rows, int channels, int width, int most_blocks) {
  return ChannelGrid::of(rows, channels, width, most_blocks, sum_lanes(width));
}

// The blocks of a tile of channels, in groups: group g has the row blocks g, g + kSumGroups, and so on.
struct SumGroups {
  ChannelGrid grid;

  CHEXBENCH_HOST_DEVICE int count() const { return grid.row_blocks < kSumGroups ? grid.row_blocks : kSumGroups; }
  CHEXBENCH_HOST_DEVICE int group(int block) const { return grid.row_block(block) % kSumGroups; }
  CHEXBENCH_HOST_DEVICE int blocks_of(int group) const { return (grid.row_blocks - group - 1) / kSumGroups + 1; }
  CHEXBENCH_HOST_DEVICE int tile(int block) const { return block % grid.tiles; }
  CHEXBENCH_HOST_DEVICE int tile_channels() const { return grid.lanes * grid.width; }
};

// First round: adds up the partial sums of a group, in double precision, so that the sum loses no digits. Finish must
// have static DoublePair term(Pair partial, int count) and void write(int channel, DoublePair sum) const.
template <typename Finish>
struct GroupSums {
  SumGroups groups;
  SumsMemory memory;

  CHEXBENCH_HOST_DEVICE void add_up(int block, int thread) const {
    const int first = groups.tile(block) * groups.tile_channels();
    for (int i = thread; i < groups.tile_channels() && first + i < groups.grid.channels; i += kThreads)
      add_up_channel(groups.group(block), first + i);
  }

  CHEXBENCH_HOST_DEVICE void add_up_channel(int group, int channel) const {
    constexpr int kUnroll = 8;  // loads in flight: with one thread to a channel, nothing else hides their latency
    const int channels = groups.grid.channels, blocks = groups.grid.row_blocks;
    DoublePair sum;
    for (int block = group; block < blocks; block += kUnroll * kSumGroups) {
      Pair partials[kUnroll];
      for (int u = 0; u < kUnroll; ++u) {
        const int from = block + u * kSumGroups;
        if (from < blocks) partials[u] = memory.partials[std::int64_t{from} * channels + channel];
      }
      for (int u = 0; u < kUnroll; ++u) {
        const int from = block + u * kSumGroups;
        if (from < blocks) sum = added(sum, Finish::term(partials[u], groups.grid.rows_of_block(from)));
      }
    }
    memory.groups[std::int64_t{group} * channels + channel] = sum;
  }
};

// Second round: adds up the groups and writes the results. The order is that of a fold of kSumGroups lanes, whose first
// two steps a thread does alone.
template <typename Finish, int kWidth>
struct TileSums {
  static constexpr int kThreads = kernels::kThreads;
  static constexpr int kLanes = kSumGroups / 4;
  static constexpr int kItems = kLanes * kWidth * sum_lanes(kWidth);
  struct Scratch {
    double first[kItems];  // [lane][channel of the tile]
    double second[kItems];
  };

  Finish finish;
  SumGroups groups;
  const DoublePair* sums = nullptr;

  CHEXBENCH_HOST_DEVICE int lanes() const { return kLanes; }

  CHEXBENCH_HOST_DEVICE void gather(int block, int thread, Scratch& scratch) const {
    const int channels = groups.tile_channels();
    for (int i = thread; i < kLanes * channels; i += kThreads) {
      const int lane = i / channels, channel = groups.tile(block) * channels + i % channels;
      const DoublePair sum = added(added(at(lane, channel), at(lane + 2 * kLanes, channel)),
                                   added(at(lane + kLanes, channel), at(lane + 3 * kLanes, channel)));
      scratch.first[i] = sum.first;
      scratch.second[i] = sum.second;
    }
  }

  CHEXBENCH_HOST_DEVICE void fold(int thread, int active, Scratch& scratch) const {
    const int left = folded(active) * groups.tile_channels();
    for (int i = thread; i < left; i += kThreads) {
      scratch.first[i] += scratch.first[i + left];
      scratch.second[i] += scratch.second[i + left];
    }
  }

  CHEXBENCH_HOST_DEVICE void publish(int block, int thread, const Scratch& scratch) const {
    const int channels = groups.tile_channels(), first = groups.tile(block) * channels;
    for (int i = thread; i < channels && first + i < groups.grid.channels; i += kThreads)
      finish.write(first + i, {scratch.first[i], scratch.second[i]});
  }

  // Returns the sum of a group, 0 for one without blocks.
  CHEXBENCH_HOST_DEVICE DoublePair at(int group, int channel) const {
    if (group >= groups.count() || channel >= groups.grid.channels) return {};
    return sums[std::int64_t{group} * groups.grid.channels + channel];
  }
};

// All of it: partial sums, then the two rounds.
template <typename Op, typename Finish>
struct ChannelSums {
  static constexpr int kThreads = kernels::kThreads;
  struct Scratch {
    union {
      typename BlockSums<Op>::Scratch blocks;
      typename TileSums<Finish, Op::kWidth>::Scratch tile;
    };
    bool last;  // whether this block drew the last ticket
  };

  BlockSums<Op> blocks;
  GroupSums<Finish> group;
  TileSums<Finish, Op::kWidth> tile;

  static ChannelSums of(const Op& op, const Finish& finish, const ChannelGrid& grid, void* scratch) {
    const SumsMemory memory = SumsMemory::at(scratch, grid.channels);
    return {{op, grid, memory.partials}, {{grid}, memory}, {finish, {grid}, memory.groups}};
  }

  CHEXBENCH_HOST_DEVICE unsigned* group_ticket(int block) const {
    return group.memory.tickets + group.groups.tile(block) * (kSumGroups + 1) + group.groups.group(block);
  }
  CHEXBENCH_HOST_DEVICE unsigned* tile_ticket(int block) const {
    return group.memory.tickets + group.groups.tile(block) * (kSumGroups + 1) + kSumGroups;
  }
  CHEXBENCH_HOST_DEVICE int group_blocks(int block) const { return group.groups.blocks_of(group.groups.group(block)); }
};

// Draws a ticket for the block and returns whether it is the last of `count`, which sets the ticket back to 0. All
// threads of a block must call it; earlier writes of any block are then visible to the block that returns true. sync()
// waits for all threads of the block; sync.draw(ticket) adds 1 and returns the old value, and orders memory for the
// whole device: writes before a draw, by its thread or before a barrier, are visible after every later draw of that
// ticket.
template <typename Sync>
CHEXBENCH_HOST_DEVICE bool draws_last(unsigned* ticket, int count, int thread, bool& last, const Sync& sync) {
  sync();
  if (count == 1) return true;
  if (thread == 0) {
    last = sync.draw(ticket) + 1 == static_cast<unsigned>(count);
    if (last) *ticket = 0;
  }
  sync();
  return last;
}

// The work of one thread. sync.block() and sync.thread() return its indices again, because rereading them can cost a
// device less than holding them in registers while rows stream through.
template <typename Op, typename Finish, typename Sync>
CHEXBENCH_HOST_DEVICE void run_sums_thread(const ChannelSums<Op, Finish>& sums, int block, int thread,
                                           typename ChannelSums<Op, Finish>::Scratch& scratch, const Sync& sync) {
  sums.blocks.gather(block, thread, scratch.blocks);
  block = sync.block();
  thread = sync.thread();
  fold_and_publish(sums.blocks, block, thread, scratch.blocks, sync);
  if (!draws_last(sums.group_ticket(block), sums.group_blocks(block), thread, scratch.last, sync)) return;
  sums.group.add_up(block, thread);
  if (!draws_last(sums.tile_ticket(block), sums.group.groups.count(), thread, scratch.last, sync)) return;
  run_thread(sums.tile, block, thread, scratch.tile, sync);
}

}  // namespace chexbench::engine::cuda::kernels
