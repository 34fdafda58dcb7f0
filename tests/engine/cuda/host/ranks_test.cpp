// How the GPU engine uses a reducer, in steps that are queued and in steps that are replayed.
#include <gtest/gtest.h>

#include "core/param_name.hpp"
#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/training/engine_fixture.hpp"

namespace chexbench::engine::cuda {
namespace {

// Averages over identical ranks, on the device's stream, so gradients do not change.
class EqualRanks final : public Reducer {
 public:
  void reduce(BucketSpan bucket, ReadyEvent ready) override {
    EXPECT_NE(ready, nullptr);
    host::enqueue(nullptr, [this, count = bucket.count] {
      ++reductions;
      elements += count;
    });
  }
  void wait() override { ADD_FAILURE() << "a device's gradients are joined, not waited for"; }
  void join(DeviceStream) override {
    host::enqueue(nullptr, [this] { ++joins; });
  }
  bool capturable() const override { return true; }
  ReducerTimings timings() const override { return {.busy_s = 0.25}; }
  int world() const override { return 2; }

  std::size_t elements = 0;
  int reductions = 0, joins = 0;
};

class CudaEngineRanks : public testing::TestWithParam<const char*> {};

TEST_P(CudaEngineRanks, EveryGradientIsReducedOnceAStepAlsoInAReplay) {
  EqualRanks ranks;
  CudaEngine engine(config_of(GetParam()));
  losses(engine, ranks, 2);
  const int buckets = ranks.reductions / 2;
  EXPECT_GT(buckets, 1);
  std::int64_t parameters = 0;
  for (const TensorInfo& info : engine.parameters()) parameters += info.count();
  EXPECT_GE(ranks.elements / 2, static_cast<std::size_t>(parameters));
  losses(engine, ranks, 3);
  EXPECT_EQ(ranks.reductions, 5 * buckets);
  EXPECT_EQ(ranks.joins, 5);
  EXPECT_EQ(engine.timings().communication_busy_s, 0.25);
}

TEST_P(CudaEngineRanks, GradientsOfSeveralBatchesAreReducedWithTheLastOne) {
  EqualRanks of_each, of_all;
  EngineConfig config = config_of(GetParam());
  config.training.learning_rate = 1e-30;  // The weights do not change.
  CudaEngine each(config);
  losses(each, of_each, 1);
  config.training.accumulate_steps = 3;
  CudaEngine all(config);
  for (int batch = 1; batch <= 9; ++batch) {
    all.step(batch_of(0), of_all);
    all.finish();
    EXPECT_EQ(of_all.reductions, batch / 3 * of_each.reductions) << "after batch " << batch;
    EXPECT_EQ(of_all.joins, batch / 3);
  }
  EXPECT_EQ(of_all.elements, 3 * of_each.elements);
  EXPECT_EQ(all.timings().communication_busy_s, 0.25);
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaEngineRanks, testing::Values(CHEXBENCH_TEST_NETWORKS), ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
