#include "spec/resolved.hpp"

#include <gtest/gtest.h>

#include "spec/spec_error.hpp"

namespace chexbench::spec {
namespace {

TEST(Slowed, ChangesWhatIsModelledAndNothingElse) {
  const TrialSpec full = trials_of(R"({
      "data": {"root": "d"}, "engine": "emulated:v100", "pipeline": "optimized",
      "comm": {"model": "alpha_beta", "alpha_s": 1e-5, "beta_bytes_per_s": 1e9, "launch_s": 2e-5},
      "store": {"shape": {"bandwidth_mb_per_s": 100, "latency_ms": 2, "jitter_ms": 1, "iops": 50}}
    })",
                                   {"pipeline.map_and_batch.delay_s=0.01"})
                             .front()
                             .spec;
  const TrialSpec slow = slowed(full, 4);
  EXPECT_DOUBLE_EQ(slow.comm.alpha_s, 4e-5);
  EXPECT_DOUBLE_EQ(slow.comm.launch_s, 8e-5);
  EXPECT_DOUBLE_EQ(slow.comm.beta_bytes_per_s, 2.5e8);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.bandwidth_mb_per_s, 25);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.latency_ms, 8);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.jitter_ms, 4);
  EXPECT_DOUBLE_EQ(*slow.data.store.shape.iops, 12.5);
  for (std::size_t i = 0; i < full.pipeline.ops.size(); ++i)
    EXPECT_DOUBLE_EQ(slow.pipeline.ops[i].number("delay_s"), 4 * full.pipeline.ops[i].number("delay_s"));
  EXPECT_EQ(slowed(full, 1), full);
  EXPECT_EQ(slow.training, full.training);
}

TEST(Slowed, LeavesWorkersAloneWithoutAScaleModel) {
  const TrialSpec full = trials_of(R"({"pipeline": "pytorch"})").front().spec;
  EXPECT_EQ(slowed(full, 1), full);
}

TEST(Slowed, StartsAsManyWorkersAsThereAreCoresInTheModel) {
  const auto workers_of = [](const std::string& asked) {
    const TrialSpec full = trials_of(R"({"engine": "emulated:v100", "pipeline": "pytorch", "comm": {"model": "none"},
                                          "emulation": {"cores_per_accelerator": 10}})",
                                     {"pipeline.worker_batches.num_workers=" + asked})
                               .front()
                               .spec;
    for (const OpSpec& op : slowed(full, 4).pipeline.ops)
      if (op.op == "worker_batches") return op.integer("num_workers");
    return std::int64_t{0};
  };
  EXPECT_EQ(workers_of("auto"), 10);
  EXPECT_EQ(workers_of("12"), 12);
}

}  // namespace
}  // namespace chexbench::spec
