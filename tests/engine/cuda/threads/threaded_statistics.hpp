// Statistics of a tensor, by blocks that run at the same time.
#pragma once

#include <vector>

#include "engine/cuda/kernels/norm_forward.hpp"
#include "engine/cuda/threads/run_block.hpp"

namespace chexbench::engine::cuda::kernels {

struct Grid {
  int rows, channels, most_blocks;
};

struct ThreadedStatistics {
  static constexpr int kMultiprocessors = 3;

  explicit ThreadedStatistics(const Grid& grid)
      : x(static_cast<std::size_t>(grid.rows) * grid.channels),
        mean(grid.channels),
        variance(grid.channels),
        grid_(sums_grid(grid.rows, grid.channels, 4, grid.most_blocks)),
        memory_((kTicketBytes + sizeof(DoublePair) * (grid_.row_blocks + kSumGroups) * grid.channels) /
                sizeof(double)) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 2654435761u % 1000) / 1000;
  }

  template <typename Draw>
  void run() {
    const StatisticsFinish finish{
        .count = static_cast<double>(grid_.rows), .mean = mean.data(), .variance = variance.data()};
    using Sums = ChannelSums<Statistics<float, 4>, StatisticsFinish>;
    run_concurrently<Draw>(Sums::of({{x.data(), grid_.channels}}, finish, grid_, memory_.data()), grid_.blocks(),
                           kMultiprocessors);
  }

  std::vector<float> x, mean, variance;

 private:
  const ChannelGrid grid_;
  std::vector<double> memory_;
};

}  // namespace chexbench::engine::cuda::kernels
