// Only under ThreadSanitizer: it would find a barrier that is missing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "engine/cuda/kernels/statistics.hpp"
#include "engine/cuda/threads/run_block.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

TEST(ReductionThreadsDeathTest, WithoutBarriersThreadSanitizerReportsARace) {
  const auto race = [] {
    std::vector<float> x(300 * 64, 1.0f);
    const auto grid = ChannelGrid::of(300, 64, 4, 1);
    std::vector<Pair> partials(64);
    run_block(BlockSums<Statistics<float, 4>>{{{x.data(), 64}}, grid, partials.data()}, 0, [] {});
    std::exit(0);
  };
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");  // ThreadSanitizer's own exit status
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
