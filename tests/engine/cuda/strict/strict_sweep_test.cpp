// The bench of single kernels waits for the device wherever necessary, and the sweep breaks none of CUDA's rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cuda/strict/strict_cuda.hpp"
#include "engine/cuda/sweep/kernel_bench.hpp"
#include "engine/cuda/sweep/kernel_sweep.hpp"
#include "engine/cuda/sweep/small_calls.hpp"

namespace chexbench::engine::cuda {
namespace {

TEST(StrictSweep, BenchesAgreeInAnyOrderOfWork) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    strict::reset(seed, false);
    select_device(strict::kDevice);
    for (const KernelCall& call : small_calls(FloatType::fp16)) {
      const KernelCheck check = KernelBench(call).check();
      EXPECT_TRUE(check.agrees()) << to_string(call.kernel) << ": " << check.result << " differs by "
                                  << check.difference;
    }
    EXPECT_THAT(strict::violations(), testing::IsEmpty());
  }
}

TEST(StrictSweep, SweepsWithinTheRules) {
  strict::reset(1, false);
  select_device(strict::kDevice);
  const KernelSweepOptions options{.networks = {"densenet121"},
                                   .batch_size = 2,
                                   .image_size = 32,
                                   .kernels = {"lazy_accumulate", "gradient_sums", "max_pool", "decide"}};
  int timings = 0;
  EXPECT_TRUE(cuda::sweep_kernels(options, [&](const KernelTiming& timing) {
    EXPECT_TRUE(timing.ran) << timing.reason;
    EXPECT_TRUE(timing.agrees()) << timing.kernel << " at " << timing.shape;
    ++timings;
  }));
  EXPECT_GT(timings, 4);
  EXPECT_THAT(strict::violations(), testing::IsEmpty());
}

}  // namespace
}  // namespace chexbench::engine::cuda
