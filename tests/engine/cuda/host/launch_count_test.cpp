// How many kernels of our own a step launches: the time between kernels is lost to all of them.
#include <gtest/gtest.h>

#include "engine/cuda/host/host_stream.hpp"
#include "engine/cuda/training/engine_fixture.hpp"

namespace chexbench::engine::cuda {
namespace {

class LaunchCount : public testing::Test {
 protected:
  ~LaunchCount() override { host::only_counts_launches() = false; }

  // Counts those of a step in fp16. If fused, every plan that the engine knows is taken.
  static host::Launches of_step(const std::string& model, bool fused) {
    EngineConfig config = config_of(model, spec::Precision::fp16);
    config.training.deterministic = false;  // which fuses nothing
    config.training.fused = fused;
    config.plan_choice.forces_fused = fused;
    CudaEngine engine(config);
    host::only_counts_launches() = true;
    const host::Launches before = host::launches();
    SingleReducer single;
    engine.step(batch_of(0), single);
    host::only_counts_launches() = false;
    return {host::launches().kernels - before.kernels, host::launches().plans - before.plans};
  }
};

// The limits are the current counts: any increase needs a reason.
TEST_F(LaunchCount, OfAStepDoesNotGrow) {
  const struct {
    const char* model;
    bool fused;
    int most_kernels;
  } limits[]{
      {"resnet50", false, 226}, {"resnet50", true, 126}, {"densenet121", false, 503}, {"densenet121", true, 437}};
  for (const auto& limit : limits) {
    const host::Launches found = of_step(limit.model, limit.fused);
    EXPECT_LE(found.kernels, limit.most_kernels) << limit.model << (limit.fused ? ", fused" : ", unfused");
    EXPECT_GT(found.plans, 150) << "the step did not run";
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
