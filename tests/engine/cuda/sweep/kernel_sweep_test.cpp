#include "engine/cuda/sweep/kernel_sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/errors.hpp"

namespace chexbench::engine::cuda {
namespace {

const KernelSweepOptions kSmall{.networks = {"resnet50"}, .batch_size = 2, .image_size = 32};

std::vector<KernelTiming> swept(const KernelSweepOptions& options, bool& complete) {
  std::vector<KernelTiming> timings;
  complete = cuda::sweep_kernels(options, [&](const KernelTiming& timing) { timings.push_back(timing); });
  return timings;
}

// Without those over all parameters, which take the twin half a minute; kernel_bench_test.cpp has them.
TEST(KernelSweep, MeasuresAndChecksEveryKernelOfALayer) {
  KernelSweepOptions options = kSmall;
  options.networks = {"resnet50", "densenet121"};
  for (const Kernel kernel : all_kernels()) {
    if (kernel < Kernel::accumulate_first) options.kernels.push_back(to_string(kernel));
  }
  for (const spec::Precision precision : {spec::Precision::f32, spec::Precision::fp16}) {
    options.precision = precision;
    bool complete = false;
    const std::vector<KernelTiming> timings = swept(options, complete);
    EXPECT_TRUE(complete);
    EXPECT_EQ(timings.size(),
              kernels_to_sweep(options, "resnet50").size() + kernels_to_sweep(options, "densenet121").size());
    for (const KernelTiming& timing : timings) {
      EXPECT_TRUE(timing.ran) << timing.reason;
      EXPECT_TRUE(timing.agrees()) << timing.kernel << " at " << timing.shape << ": " << timing.difference;
      EXPECT_GT(timing.checked_values, 0);
      EXPECT_GT(timing.median_s, 0);
      EXPECT_GT(timing.copy_s, 0);
      EXPECT_GT(timing.bytes, 0);
      EXPECT_NE(timing.device.find("mean nothing"), std::string::npos);
    }
  }
}

TEST(KernelSweep, BeginsWithWhatMovesTheMostBytesAStep) {
  const std::vector<KernelUse> uses = kernels_to_sweep(kSmall, "resnet50");
  EXPECT_TRUE(std::ranges::is_sorted(uses, std::greater{}, [](const KernelUse& use) {
    return bytes_moved(use.call) * std::max(use.runs, use.fused_runs);
  }));
  EXPECT_EQ(uses.back().runs, 0);
}

TEST(KernelSweep, MeasuresTheNamedKernelsOnly) {
  KernelSweepOptions options = kSmall;
  options.kernels = {"decide", "global_average"};
  bool complete = false;
  const std::vector<KernelTiming> timings = swept(options, complete);
  ASSERT_EQ(timings.size(), 2u);
  EXPECT_EQ(timings.front().kernel, "global_average");
  EXPECT_EQ(timings.back().kernel, "decide");
}

TEST(KernelSweep, EndsAtItsBudget) {
  KernelSweepOptions options = kSmall;
  options.budget_s = -1;
  bool complete = true;
  EXPECT_TRUE(swept(options, complete).empty());
  EXPECT_FALSE(complete);
}

std::string refusal(const KernelSweepOptions& options) {
  try {
    cuda::sweep_kernels(options, [](const KernelTiming&) {});
  } catch (const SpecError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(KernelSweep, RefusesUnknownNamesWithTheNearestKnownOne) {
  KernelSweepOptions options = kSmall;
  options.networks = {"resnet5"};
  EXPECT_NE(refusal(options).find("'resnet50'"), std::string::npos) << refusal(options);
  options = kSmall;
  options.kernels = {"normalise"};
  EXPECT_NE(refusal(options).find("did you mean 'normalize'"), std::string::npos) << refusal(options);
  options.kernels = {"lazy_apply"};  // which only dense blocks have
  EXPECT_NE(refusal(options).find("none of these networks"), std::string::npos) << refusal(options);
}

}  // namespace
}  // namespace chexbench::engine::cuda
