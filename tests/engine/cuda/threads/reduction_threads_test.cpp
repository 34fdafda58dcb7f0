// Runs the reductions as a device does, with a thread for each thread of a block and a barrier between the phases, so
// that ThreadSanitizer finds a phase that reads what no barrier separates it from.
#include <gtest/gtest.h>

#include <barrier>
#include <vector>

#include "engine/cuda/kernels/statistics.hpp"
#include "engine/cuda/threads/run_block.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename R>
void run_blocks(const R& reduction, int blocks) {
  std::barrier<> all(R::kThreads);
  for (int block = 0; block < blocks; ++block) run_block(reduction, block, [&] { all.arrive_and_wait(); });
}

struct Case {
  int rows, channels, most_blocks;
};

class ReductionThreads : public testing::TestWithParam<Case> {};

TEST_P(ReductionThreads, ComputeMeanAndVarianceOfEachChannel) {
  const auto [rows, channels, most_blocks] = GetParam();
  std::vector<float> x(static_cast<std::size_t>(rows) * channels);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  std::vector<float> mean(channels), variance(channels);
  const auto grid = ChannelGrid::of(rows, channels, 4, most_blocks);
  std::vector<Pair> partials(static_cast<std::size_t>(grid.row_blocks) * channels);
  run_blocks(BlockSums<Statistics<float, 4>>{{{x.data(), channels}}, grid, partials.data()}, grid.blocks());
  const ChannelFinish<StatisticsFinish> last{
      {.count = static_cast<double>(rows), .mean = mean.data(), .variance = variance.data()}, grid, partials.data()};
  run_blocks(last, last.blocks());
  for (int c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int row = 0; row < rows; ++row) {
      const double value = x[static_cast<std::size_t>(row) * channels + c];
      sum += value;
      squares += value * value;
    }
    const double expected = sum / rows;
    EXPECT_NEAR(mean[c], expected, 1e-5);
    EXPECT_NEAR(variance[c], squares / rows - expected * expected, 1e-5);
  }
}

// Lanes that are a power of two and not, rows that do not fill a block, and more blocks than one.
INSTANTIATE_TEST_SUITE_P(Grids, ReductionThreads,
                         testing::Values(Case{300, 64, 1}, Case{5, 12, 3}, Case{700, 132, 4}, Case{90, 20, 2}));

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
