// Sums in one launch give the same bits as sums in two, regardless of which block finishes last.
#include "engine/cuda/kernels/channel_sums.hpp"

#include <cstring>

#include "emulation.hpp"
#include "engine/cuda/kernels/norm_forward.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

// The second of two launches: one block adds up the partial sums of 16 channels, in 32 lanes.
template <typename Finish>
struct SecondLaunch {
  static constexpr int kChannels = 16, kLanes = kSumGroups, kThreads = kChannels * kLanes;
  struct Scratch {
    DoublePair sums[kThreads];
  };
  Finish finish;
  ChannelGrid grid;
  const Pair* partials;

  int lanes() const { return kLanes; }
  void gather(int block, int thread, Scratch& scratch) const {
    const int channel = block * kChannels + thread % kChannels;
    scratch.sums[thread] = {};
    if (channel >= grid.channels) return;
    for (int row_block = thread / kChannels; row_block < grid.row_blocks; row_block += kLanes) {
      const Pair partial = partials[std::int64_t{row_block} * grid.channels + channel];
      scratch.sums[thread] = added(scratch.sums[thread], Finish::term(partial, grid.rows_of_block(row_block)));
    }
  }
  void fold(int thread, int active, Scratch& scratch) const {
    const int other = thread + folded(active) * kChannels;
    if (other < active * kChannels) scratch.sums[thread] = added(scratch.sums[thread], scratch.sums[other]);
  }
  void publish(int block, int thread, const Scratch& scratch) const {
    const int channel = block * kChannels + thread;
    if (thread < kChannels && channel < grid.channels) finish.write(channel, scratch.sums[thread]);
  }
};

enum class Order { two_launches, forward, reversed, shuffled };

struct Found {
  std::vector<float> mean, variance;
};

struct Shape {
  int rows, channels, most_blocks;
};

template <int V>
Found statistics(const Tensor<float>& x, int most_blocks, Order order, void* memory) {
  const auto size = static_cast<std::size_t>(x.channels());
  Found found{std::vector<float>(size, -1.0f), std::vector<float>(size, -1.0f)};
  const ChannelGrid grid = sums_grid(x.rows(), x.channels(), V, most_blocks);
  const StatisticsFinish finish{static_cast<double>(x.rows()), found.mean.data(), found.variance.data()};
  const auto sums = ChannelSums<Statistics<float, V>, StatisticsFinish>::of({x.view()}, finish, grid, memory);
  if (order == Order::two_launches) {
    run_reduction(sums.blocks, grid.blocks());
    run_reduction(SecondLaunch<StatisticsFinish>{finish, grid, sums.blocks.partials},
                  (x.channels() + SecondLaunch<StatisticsFinish>::kChannels - 1) / 16);
    return found;
  }
  std::vector<int> blocks(static_cast<std::size_t>(grid.blocks()));
  std::iota(blocks.begin(), blocks.end(), 0);
  if (order == Order::reversed) std::ranges::reverse(blocks);
  if (order == Order::shuffled) std::ranges::shuffle(blocks, std::mt19937(17));
  for (const int block : blocks) {
    typename ChannelSums<Statistics<float, V>, StatisticsFinish>::Scratch scratch;
    run_block(sums, block, scratch);
  }
  return found;
}

// Groups of no, one and several blocks; tiles of the most channels, of fewer, and one that is not full.
const std::vector<Shape> kShapes{{1, 4, 7},     {300, 64, 5},    {900, 32, 31},  {2100, 8, 32},
                                 {4000, 4, 33}, {3000, 132, 90}, {5000, 20, 75}, {2000, 260, 500}};

TEST(ChannelSums, GiveTheBitsOfTwoLaunchesWhicheverBlockIsLast) {
  for (const Shape& shape : kShapes) {
    Tensor<float> x(shape.rows, shape.channels);
    x.randomize(static_cast<unsigned>(shape.rows), 3, 0.7);
    std::vector<double> memory = sums_memory(ChannelGrid{.channels = shape.channels, .row_blocks = shape.most_blocks});
    const Found expected = statistics<4>(x, shape.most_blocks, Order::two_launches, memory.data());
    for (const Order order : {Order::forward, Order::reversed, Order::shuffled}) {
      const Found found = statistics<4>(x, shape.most_blocks, order, memory.data());
      EXPECT_EQ(found.mean, expected.mean) << shape.rows << " rows";
      EXPECT_EQ(found.variance, expected.variance) << shape.rows << " rows";
    }
  }
}

// Replayed graphs never clear it, and calls of all shapes share it.
TEST(ChannelSums, LeaveTheTicketsAsTheyFoundThem) {
  std::vector<double> memory = sums_memory(ChannelGrid{.channels = 260, .row_blocks = 500});
  const std::vector<char> zero(kTicketBytes, 0);
  for (const Shape& shape : kShapes) {
    Tensor<float> x(shape.rows, shape.channels);
    x.randomize(2);
    statistics<4>(x, shape.most_blocks, Order::shuffled, memory.data());
    EXPECT_EQ(std::memcmp(memory.data(), zero.data(), kTicketBytes), 0) << shape.channels;
    statistics<1>(x, shape.most_blocks, Order::shuffled, memory.data());
    EXPECT_EQ(std::memcmp(memory.data(), zero.data(), kTicketBytes), 0) << shape.channels;
  }
}

TEST(ChannelSums, ScratchHoldsThoseOfAnyShape) {
  for (int channels : {1, 3, 16, 32, 64, 96, 100, 128, 255, 256, 257, 1000, 1024, 1056, 2048, 4096, 32768}) {
    for (int width : {1, 4, 8}) {
      for (int multiprocessors : {1, 40, 132}) {
        if (channels % width != 0) continue;
        const ChannelGrid grid = sums_grid(1 << 30, channels, width, kSumBlocks * multiprocessors);
        std::vector<std::byte> memory(reduction_scratch_bytes(channels, multiprocessors));
        const Pair* const partials = SumsMemory::at(memory.data(), channels).partials;
        const auto used = reinterpret_cast<const std::byte*>(partials) - memory.data() +
                          static_cast<std::ptrdiff_t>(sizeof(Pair)) * grid.row_blocks * channels;
        EXPECT_LE(used, std::ssize(memory)) << channels << " " << width;
        EXPECT_LE(grid.tiles, kMostSumTiles);
        EXPECT_LE(grid.lanes * width, kSumChannels);
      }
    }
  }
}

TEST(ChannelSums, MoreChannelsThanTicketsAreRefused) {
  EXPECT_THROW(reduction_scratch_bytes(40'000, 132), std::logic_error);
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
