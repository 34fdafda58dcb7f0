// Compares DenseNet whose dense layers write packed outputs with one that writes straight into its blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/cuda/host/host_convolutions.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/gradients.hpp"
#include "engine/training_engine.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;

constexpr int kLargerSize = 2 * kSize;

class PackedDenseLayers : public testing::Test {
 protected:
  ~PackedDenseLayers() override { host::lacking_patterns().clear(); }

  static EngineConfig config(Precision precision, int image_size = kLargerSize) {
    EngineConfig config = config_of("densenet121", precision);
    config.model.image_size = image_size;
    config.training.deterministic = false;  // which packs nothing
    config.plan_choice.forces_fused = true;
    return config;
  }
  // The same except for packing.
  static EngineConfig deterministic(EngineConfig config) {
    config.training.deterministic = true;
    return config;
  }
  static EngineConfig apart(EngineConfig config) {
    config.training.fused = false;
    return config;
  }
  static std::vector<float> logits_of_evaluation(CudaEngine& engine) {
    std::vector<float> logits(static_cast<std::size_t>(kImages) * kNihLabels);
    static_cast<Engine&>(engine).epoch_training()->evaluate(batch_of(7), logits);
    return logits;
  }
  static std::vector<float> running(const CudaEngine& engine, const TensorInfo& buffer) {
    std::vector<float> values(static_cast<std::size_t>(buffer.count()));
    engine.read_buffer(buffer.name, values);
    return values;
  }
  // Whether a 3x3 convolution ran whose output is packed, since this was called before. The stem's is 7x7.
  static bool has_packed() {
    const bool has = std::ranges::any_of(host::shapes_run(),
                                         [](const ConvShape& shape) { return shape.kernel == 3 && shape.packed(); });
    host::shapes_run().clear();
    return has;
  }

  SingleReducer single_;
};

// f32 has no fused plans, so only the copies and the gradients' other places are compared.
TEST_F(PackedDenseLayers, GiveTheSameBitsAsStridedOnesWherePlansArePlain) {
  has_packed();
  EngineConfig config = this->config(Precision::f32, kSize);
  config.training.accumulate_steps = 2;
  CudaEngine packed(config), strided(deterministic(config));
  const std::vector<double> expected = losses(strided, single_, 4);
  EXPECT_FALSE(has_packed());
  EXPECT_EQ(losses(packed, single_, 4), expected);
  EXPECT_TRUE(has_packed());
  for (const TensorInfo& parameter : packed.parameters())
    EXPECT_EQ(gradient(packed, parameter), gradient(strided, parameter)) << parameter.name;
  for (const TensorInfo& buffer : packed.buffers())
    EXPECT_EQ(running(packed, buffer), running(strided, buffer)) << buffer.name;
  EXPECT_EQ(logits_of_evaluation(packed), logits_of_evaluation(strided));
  EXPECT_EQ(losses(packed, single_, 2), losses(strided, single_, 2)) << "after the evaluation";
}

// Forward is the same bit by bit, so rounding does not grow from layer to layer as it does through batch norms.
TEST_F(PackedDenseLayers, HaveTheGradientsOfStridedOnesWhereDataGradientsTakeTheNorm) {
  host::lacking_patterns() = {ConvPattern::forward_statistics, ConvPattern::normalized_forward_statistics};
  CudaEngine packed(config(Precision::fp16)), strided(apart(config(Precision::fp16)));
  ASSERT_EQ(losses(packed, single_, 1, kLargerSize), losses(strided, single_, 1, kLargerSize));
  double most = 0;
  for (const TensorInfo& parameter : packed.parameters()) {
    // The norms of the first block undo what this one scales and most of what it shifts, so its gradients cancel.
    if (parameter.name.starts_with("features.norm0")) continue;
    const std::vector<float> expected = gradient(strided, parameter);
    const double relative = distance(gradient(packed, parameter), expected) / norm(expected);
    EXPECT_LT(relative, 2e-2) << parameter.name;
    most = std::max(most, relative);
  }
  EXPECT_GT(most, 0) << "both took the same way";
}

// The criterion is that of `selftest engine --precision fp16`, at a size at which norms see few values.
TEST_F(PackedDenseLayers, WithAllThatIsFusedAreAsNearToF32AsStridedOnes) {
  CudaEngine packed(config(Precision::fp16)), strided(apart(config(Precision::fp16)));
  CudaEngine exact(apart(config(Precision::f32)));
  const double expected = losses(exact, single_, 1, kLargerSize).front();
  EXPECT_NEAR(losses(packed, single_, 1, kLargerSize).front(), expected, 5e-3);
  EXPECT_NEAR(losses(strided, single_, 1, kLargerSize).front(), expected, 5e-3);
  for (const TensorInfo& parameter : packed.parameters()) {
    const std::vector<float> of_f32 = gradient(exact, parameter);
    EXPECT_LT(distance(gradient(packed, parameter), of_f32),
              3 * distance(gradient(strided, parameter), of_f32) + 0.1 * norm(of_f32))
        << parameter.name;
  }
}

TEST_F(PackedDenseLayers, AreChosenWhereTheirPassesAreFasterAndNotInDeterministicMode) {
  has_packed();
  for (const Precision precision : {Precision::f32, Precision::fp16}) {  // golden values are reached in f32
    EngineConfig config = this->config(precision, kSize);
    config.plan_choice.forces_fused = false;
    CudaEngine faster(config);
    losses(faster, single_, 1);
    EXPECT_TRUE(has_packed()) << "the twin's plans for packed outputs are faster";
    CudaEngine strided(deterministic(config));
    losses(strided, single_, 1);
    EXPECT_FALSE(has_packed());
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
