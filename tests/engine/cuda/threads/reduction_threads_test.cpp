// Runs sums as a device does, with a thread for each thread of a block, a barrier between the phases and tickets
// between the blocks, so that ThreadSanitizer finds unsynchronized reads.
#include <gtest/gtest.h>

#include "engine/cuda/threads/threaded_statistics.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

class ReductionThreads : public testing::TestWithParam<Grid> {};

TEST_P(ReductionThreads, ComputeMeanAndVarianceOfEachChannel) {
  ThreadedStatistics statistics(GetParam());
  const auto [rows, channels, most_blocks] = GetParam();
  for (int launch = 0; launch < 2; ++launch) {  // The second finds the tickets as the first left them.
    statistics.run<DrawTicket<std::memory_order_acq_rel>>();
    for (int c = 0; c < channels; ++c) {
      double sum = 0, squares = 0;
      for (int row = 0; row < rows; ++row) {
        const double value = statistics.x[static_cast<std::size_t>(row) * channels + c];
        sum += value;
        squares += value * value;
      }
      const double expected = sum / rows;
      EXPECT_NEAR(statistics.mean[c], expected, 1e-5);
      EXPECT_NEAR(statistics.variance[c], squares / rows - expected * expected, 1e-5);
    }
  }
}

// Lanes that are and are not a power of two, rows that do not fill a block, tiles that are not full, and groups of one
// block and of two.
INSTANTIATE_TEST_SUITE_P(Grids, ReductionThreads,
                         testing::Values(Grid{300, 64, 1}, Grid{5, 12, 3}, Grid{700, 132, 4}, Grid{90, 20, 2},
                                         Grid{300, 128, 34}));

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
