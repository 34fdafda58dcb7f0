// The threads cover each element once and nothing outside.
#include "engine/cuda/kernels/channel_grid.hpp"

#include <numeric>
#include <string>

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

struct Shape {
  int rows, channels, width, most_blocks;
};

std::vector<Shape> shapes() {
  std::vector<Shape> all;
  for (int rows : {1, 2, 7, 31, 49, 256, 1000, 3137}) {
    for (int vectors : {1, 3, 4, 8, 12, 31, 32, 33, 64, 132, 255, 300}) {
      for (int width : {1, 4, 8}) {
        for (int most : {1, 7, 264}) all.push_back({rows, vectors * width, width, most});
      }
    }
  }
  return all;
}

std::string name(const Shape& s) {
  return std::to_string(s.rows) + " rows, " + std::to_string(s.channels) + " channels by " + std::to_string(s.width) +
         ", blocks " + std::to_string(s.most_blocks);
}

TEST(ChannelGrid, EachVectorOfEachRowBelongsToOneThread) {
  for (const Shape& s : shapes()) {
    const auto grid = ChannelGrid::of(s.rows, s.channels, s.width, s.most_blocks);
    std::vector<int> owners(static_cast<std::size_t>(s.rows) * s.channels / s.width);
    for (int block = 0; block < grid.blocks(); ++block) {
      for (int thread = 0; thread < kThreads; ++thread) {
        const Lane lane = grid.lane(block, thread);
        if (!lane.active) continue;
        ASSERT_EQ(lane.channel % s.width, 0);
        ASSERT_LE(lane.channel + s.width, s.channels);
        int row = lane.row;
        for (int i = 0; i < grid.rows_from(lane.row); ++i, row += grid.row_step()) {
          ASSERT_LT(row, s.rows);
          ++owners[(static_cast<std::size_t>(row) * s.channels + lane.channel) / s.width];
        }
        ASSERT_GE(row, s.rows);
      }
    }
    ASSERT_TRUE(std::ranges::all_of(owners, [](int count) { return count == 1; })) << name(s);
  }
}

TEST(ChannelGrid, HasNoMoreBlocksThanAllowedNorThreadsThanABlock) {
  for (const Shape& s : shapes()) {
    const auto grid = ChannelGrid::of(s.rows, s.channels, s.width, s.most_blocks);
    ASSERT_LE(grid.blocks(), std::max(s.most_blocks, grid.tiles)) << name(s);
    ASSERT_LE(grid.lanes, kMostLanes);
    ASSERT_LE(grid.lanes * grid.row_lanes, kThreads);
    ASSERT_LT((grid.row_blocks - 1) * grid.row_lanes, s.rows) << name(s) << ": a block without rows";
    ASSERT_LT(grid.tiles * grid.lanes - s.channels / s.width, grid.lanes) << name(s) << ": an idle tile";
  }
}

TEST(ChannelGrid, TilesAreWholeLinesOfTheCacheIfThereAreSeveral) {
  for (const Shape& s : shapes()) {
    const auto grid = ChannelGrid::of(s.rows, s.channels, s.width, s.most_blocks);
    if (grid.tiles == 1) continue;
    ASSERT_EQ(grid.lanes % kLineLanes, 0) << name(s);
  }
}

TEST(ChannelGrid, TilesAreAsWideAsPossibleUnlessThreadsOfTheLastOneWouldBeIdle) {
  const auto lanes = [](int vectors) { return ChannelGrid::lanes_of(vectors, 8, 16); };
  EXPECT_EQ(lanes(12), 12);
  EXPECT_EQ(lanes(16), 16);
  EXPECT_EQ(lanes(60), 16);  // 4 idle; tiles of 8 would leave the same number
  EXPECT_EQ(lanes(20), 8);   // 4 idle instead of 12
  EXPECT_EQ(lanes(24), 8);
  EXPECT_EQ(ChannelGrid::lanes_of(24, 1, 16), 16);
}

TEST(ChannelGrid, RowsOfABlockAreThoseOfItsThreads) {
  for (const Shape& s : shapes()) {
    const auto grid = ChannelGrid::of(s.rows, s.channels, s.width, s.most_blocks);
    int all = 0;
    for (int row_block = 0; row_block < grid.row_blocks; ++row_block) {
      int rows = 0;
      for (int lane = 0; lane < grid.row_lanes; ++lane) rows += grid.rows_from(row_block * grid.row_lanes + lane);
      ASSERT_EQ(grid.rows_of_block(row_block), rows) << name(s);
      all += rows;
    }
    ASSERT_EQ(all, s.rows) << name(s);
  }
}

TEST(ChannelGrid, VectorsNeedWholeAlignedRows) {
  alignas(16) const float data[16] = {};
  EXPECT_TRUE(whole_vectors(data, 8, 4, 4));
  EXPECT_TRUE(whole_vectors(data + 4, 8, 4, 4));   // A slice.
  EXPECT_FALSE(whole_vectors(data + 2, 8, 4, 4));  // A slice that is not aligned.
  EXPECT_FALSE(whole_vectors(data, 6, 4, 4));
  EXPECT_FALSE(whole_vectors(data, 8, 3, 4));
}

// Records the order of rows: they come in order, and each is loaded before it is used.
struct Recorder {
  static constexpr int kUnroll = 4;
  typedef int Loaded;
  std::vector<int>* used;
  int load(int row) const { return row; }
  void use(int row, int loaded) const {
    ASSERT_EQ(row, loaded);
    used->push_back(row);
  }
};

TEST(ChannelGrid, AllRowsOfALaneComeInOrderWhateverIsLeftOverAfterTheUnrolledOnes) {
  for (int rows = 1; rows < 40; ++rows) {
    const ChannelGrid grid{.rows = rows, .channels = 1, .row_lanes = 2, .row_blocks = 1};
    std::vector<int> used;
    Recorder recorder{&used};
    for_rows(grid, 1, recorder);
    ASSERT_EQ(static_cast<int>(used.size()), rows / 2);
    for (int i = 0; i < rows / 2; ++i) ASSERT_EQ(used[static_cast<std::size_t>(i)], 1 + 2 * i);
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
