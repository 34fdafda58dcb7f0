// Both engines that train drop the same units at the same steps on the same ranks.
#include <gtest/gtest.h>

#include "core/param_name.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"
#include "engine/onednn/trainer.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr int kBatches = 4;  // The last two are replays.

// Returns the logits of each batch, all with the same weights and images.
std::vector<std::vector<float>> logits_of_batches(Engine& engine) {
  SingleReducer single;
  std::vector<std::vector<float>> logits;
  for (int i = 0; i < kBatches; ++i) {
    engine.step(batch_of(0, Deliver::u8, 2 * kSize), single);
    engine.finish();
    logits.emplace_back(engine.logits().begin(), engine.logits().end());
  }
  return logits;
}

class DropoutOfTwoEngines : public testing::TestWithParam<const char*> {};

TEST_P(DropoutOfTwoEngines, DropsTheSameUnitsAlsoInEachBatchOfAStep) {
  EngineConfig config = config_of(GetParam());
  config.model.image_size = 2 * kSize;
  config.training.learning_rate = 1e-30;  // The weights do not change.
  config.training.accumulate_steps = 2;
  config.rank = 1;
  CudaEngine gpu(config);
  onednn::OnednnEngine cpu(config);
  const auto expected = logits_of_batches(cpu), logits = logits_of_batches(gpu);
  for (std::size_t i = 0; i < kBatches; ++i) {
    EXPECT_LT(distance(logits[i], expected[i]), 1e-2 * norm(expected[i])) << "batch " << i;
    EXPECT_GT(distance(expected[i], expected[(i + 1) % kBatches]), 0.1 * norm(expected[i])) << "batch " << i;
  }
}

// AlexNet also drops values of a map, whose order in memory differs between the engines.
INSTANTIATE_TEST_SUITE_P(Networks, DropoutOfTwoEngines, testing::Values("mobilenet_v2", "alexnet"), ParamName());

}  // namespace
}  // namespace chexbench::engine::cuda
