// Only under ThreadSanitizer: it would find a barrier, a fence or a ticket that is missing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "engine/cuda/threads/threaded_statistics.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename Run>
void expect_race(const Run& run) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto child = [&] {
    run();
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(66), "data race");  // ThreadSanitizer's own exit status
}

TEST(ReductionThreadsDeathTest, WithoutBarriersThreadSanitizerReportsARace) {
  expect_race([] {
    std::vector<float> x(300 * 64, 1.0f);
    const auto grid = ChannelGrid::of(300, 64, 4, 1);
    std::vector<Pair> partials(64);
    run_block(BlockSums<Statistics<float, 4>>{{{x.data(), 64}}, grid, partials.data()}, 0, [] {});
  });
}

// Groups of one block, so that only the tile's tickets are drawn; and groups of two.
TEST(ReductionThreadsDeathTest, WithoutFencesThreadSanitizerReportsARace) {
  for (const Grid& grid : {Grid{300, 128, 3}, Grid{300, 128, 34}})
    expect_race([&] { ThreadedStatistics(grid).run<DrawTicket<std::memory_order_relaxed>>(); });
}

struct AlwaysTheLastOfThree {
  unsigned operator()(unsigned* ticket) const {
    DrawTicket<std::memory_order_acq_rel>{}(ticket);
    return 2;
  }
};

TEST(ReductionThreadsDeathTest, WhereABlockDoesNotWaitForItsTurnThreadSanitizerReportsARace) {
  expect_race([] { ThreadedStatistics({300, 128, 3}).run<AlwaysTheLastOfThree>(); });
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
