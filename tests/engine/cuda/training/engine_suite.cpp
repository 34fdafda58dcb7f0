// The GPU engine as used by the trial loop, on the host twin and, if there is one, on a GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/param_name.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "engine/cuda/training/engine_fixture.hpp"
#include "engine/cuda/training/trainer.hpp"
#include "engine/gradients.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::cuda {
namespace {

using spec::Precision;
using testing::HasSubstr;

class CudaEngineSuite : public OnADevice, public testing::WithParamInterface<const char*> {
 protected:
  static EpochTraining& training_of(Engine& engine) { return *engine.epoch_training(); }
  static BatchLease batch(int number) { return batch_of(number, Deliver::u8, size_of(GetParam())); }
  std::vector<double> losses_of(CudaEngine& engine, int steps) {
    return losses(engine, single_, steps, size_of(GetParam()));
  }
};
class CudaEngineDropout : public OnADevice {};
class CudaEngineFaults : public OnADevice {};

TEST_P(CudaEngineSuite, LearnsABatchByHeartInEveryPrecision) {
  for (const Precision precision : {Precision::f32, Precision::fp16, Precision::bf16}) {
    EngineConfig config = config_of(GetParam(), precision);
    config.model.dropout = false;  // It would change the batch at each step.
    CudaEngine engine(config);
    engine.step(batch(0), single_);
    engine.finish();
    const double first = engine.timings().loss;
    // fp16 starts with a loss scale that is too large, and skips updates until the scale fits.
    const int steps = precision == Precision::fp16 ? 14 : 6;
    for (int i = 0; i < steps; ++i) engine.step(batch(0), single_);
    engine.finish();
    EXPECT_LT(engine.timings().loss, 0.8 * first) << spec::to_string(precision);
  }
}

TEST_P(CudaEngineSuite, AReplayedStepIsTheSameAsOneQueuedLaunchByLaunch) {
  EngineConfig config = config_of(GetParam());
  CudaEngine replayed(config);
  config.training.cuda_graph = false;
  CudaEngine eager(config);
  const std::vector<double> expected = losses_of(eager, 6);
  EXPECT_EQ(losses_of(replayed, 6), expected);
  EXPECT_EQ(std::set(expected.begin(), expected.end()).size(), 6u) << "each step has a batch of its own";
}

TEST_P(CudaEngineSuite, ColorsOfBytesAndOfNormalizedFloatsGiveTheSameStep) {
  EngineConfig config = config_of(GetParam());
  std::vector<double> losses_of_types;
  for (const Deliver deliver : {Deliver::f32, Deliver::u8_rgb}) {
    config.deliver = deliver;
    CudaEngine engine(config);
    engine.step(batch_of(0, deliver, size_of(GetParam())), single_);
    engine.finish();
    losses_of_types.push_back(engine.timings().loss);
  }
  EXPECT_EQ(losses_of_types[0], losses_of_types[1]);
}

TEST_P(CudaEngineSuite, RestartRepeatsTheSameLossesBitForBit) {
  CudaEngine engine(config_of(GetParam(), Precision::fp16));
  const std::vector<double> first = losses_of(engine, 4);
  engine.restart();
  EXPECT_EQ(engine.steps_finished(), 0);
  EXPECT_EQ(losses_of(engine, 4), first);
}

// At kSize ResNet's last norms see only four values each, so rounding to half types has a large effect.
EngineConfig larger_config(const std::string& model, Precision precision) {
  EngineConfig config = config_of(model, precision);
  config.model.image_size = 2 * kSize;
  return config;
}

void run_larger_step(CudaEngine& engine, Reducer& reducer) {
  engine.step(batch_of(0, Deliver::u8, 2 * kSize), reducer);
  engine.finish();
}

TEST_P(CudaEngineSuite, WhatConvolutionsDoBesideGivesTheSameStep) {
  EngineConfig config = larger_config(GetParam(), Precision::fp16);
  config.training.deterministic = false;  // which fuses nothing
  config.plan_choice.forces_fused = true;
  CudaEngine fused(config);
  config.training.fused = false;
  CudaEngine apart(config);
  run_larger_step(fused, single_);
  run_larger_step(apart, single_);
  EXPECT_NEAR(fused.timings().loss, apart.timings().loss, 5e-3);
  EXPECT_EQ(fused.timings().loss != apart.timings().loss, !fused.buffers().empty()) << "only norms are fused";
  // With so few values in each norm, rounding moves the gradients of earlier layers as far as a wrong kernel would:
  // `selftest engine --precision fp16` compares them at the size of a training.
  const TensorInfo last = fused.parameters().front();
  EXPECT_LT(distance(gradient(fused, last), gradient(apart, last)), 0.1 * norm(gradient(apart, last)));
}

TEST_P(CudaEngineSuite, HalfPrecisionGradientsAreNearThoseOfF32AndUnscaled) {
  CudaEngine exact(larger_config(GetParam(), Precision::f32));
  run_larger_step(exact, single_);
  for (const auto& [precision, tolerance] : {std::pair{Precision::fp16, 0.1}, std::pair{Precision::bf16, 0.5}}) {
    CudaEngine half(larger_config(GetParam(), precision));
    run_larger_step(half, single_);
    const TensorInfo last = half.parameters().front();
    EXPECT_LT(distance(gradient(half, last), gradient(exact, last)), tolerance * norm(gradient(exact, last)))
        << spec::to_string(precision);
  }
}

TEST_P(CudaEngineSuite, PartsOfAStepSumToItsWallTimeAndStepsFollowEachOther) {
  CudaEngine engine(config_of(GetParam()));
  double end_s = 0;
  for (int i = 0; i < 4; ++i) {
    engine.step(batch(i), single_);
    engine.finish();
    const measure::StepTimings& t = engine.timings();
    EXPECT_NEAR(t.wait_s + t.upload_s + t.compute_s + t.exposed_communication_s + t.update_s + t.other_s, t.wall_s,
                1e-12);
    EXPECT_GT(t.forward_s, 0);
    EXPECT_GT(t.backward_s, 0);
    EXPECT_GT(t.update_s, 0);
    EXPECT_GT(t.upload_s, 0);
    EXPECT_EQ(t.images, kImages);
    if (i > 0) {
      EXPECT_NEAR(t.end_s - end_s, t.wall_s, 1e-9);
    }
    end_s = t.end_s;
  }
}

TEST_P(CudaEngineSuite, FrozenNormsKeepTheirRunningStatistics) {
  EngineConfig config = config_of(GetParam());
  config.model.batch_norm = spec::BatchNormMode::frozen;
  CudaEngine engine(config);
  if (engine.buffers().empty()) return;  // It has no norms.
  const TensorInfo mean = engine.buffers().front();
  std::vector<float> before(static_cast<std::size_t>(mean.count())), after(before.size());
  engine.read_buffer(mean.name, before);
  const std::vector<double> frozen = losses_of(engine, 3);
  engine.read_buffer(mean.name, after);
  EXPECT_EQ(after, before);
  EXPECT_LT(frozen[2], 10);
}

// Compares with the forward pass of a frozen network's step, with the same weights.
TEST_P(CudaEngineSuite, EvaluatesAsAFrozenNetworkAndChangesNothing) {
  EngineConfig config = config_of(GetParam());
  CudaEngine engine(config), undisturbed(config);
  losses_of(engine, 3);
  losses_of(undisturbed, 3);
  const Tensors trained = state_of(engine);
  std::vector<float> logits(static_cast<std::size_t>(kImages) * kNihLabels);
  EpochTraining& training = training_of(engine);
  training.evaluate(batch(7), logits);
  EXPECT_TRUE(state_of(engine) == trained);

  config.model.batch_norm = spec::BatchNormMode::frozen;
  config.model.dropout = false;
  CudaEngine frozen(config);
  frozen.load_weights(source_of(trained));
  frozen.step(batch(7), single_);
  frozen.finish();
  EXPECT_TRUE(std::ranges::equal(logits, frozen.logits()));

  std::vector<float> fewer(static_cast<std::size_t>(kImages - 1) * kNihLabels);
  BatchLease partial = batch(7);
  partial->valid = kImages - 1;
  training.evaluate(std::move(partial), fewer);
  EXPECT_TRUE(std::ranges::equal(fewer, std::span(logits).first(fewer.size())));
  EXPECT_EQ(losses_of(engine, 2), losses_of(undisturbed, 2)) << "replays go on as if nothing had been";
}

TEST_P(CudaEngineSuite, TimeOfAnEvaluationBelongsToNoStep) {
  CudaEngine engine(config_of(GetParam()));
  losses_of(engine, 1);
  const double end_s = engine.timings().end_s, began_s = now_s();
  std::vector<float> logits(static_cast<std::size_t>(kImages) * kNihLabels);
  training_of(engine).evaluate(batch(7), logits);
  const double evaluated_s = now_s();
  losses_of(engine, 1);
  const double half_s = 0.5 * (evaluated_s - began_s);  // A delay of the host between two clock reads is shorter.
  EXPECT_GE(engine.timings().end_s - engine.timings().wall_s, end_s + half_s);
  EXPECT_LE(engine.timings().wall_s, now_s() - began_s - half_s);
}

TEST_P(CudaEngineSuite, GoesOnFromACheckpointWithTheSameBits) {
  for (const Precision precision : {Precision::f32, Precision::fp16}) {
    EngineConfig config = config_of(GetParam(), precision);
    CudaEngine engine(config);
    losses_of(engine, 3);  // In fp16 some updates are skipped.
    const Tensors checkpoint = state_of(engine);
    CudaEngine resumed(config);
    losses_of(resumed, 1);
    training_of(resumed).resume(source_of(checkpoint), training_of(engine).updates());
    EXPECT_TRUE(state_of(resumed) == checkpoint);
    EXPECT_EQ(losses_of(resumed, 3), losses_of(engine, 3)) << spec::to_string(precision);
    EXPECT_TRUE(state_of(resumed) == state_of(engine));
    EXPECT_EQ(training_of(resumed).updates(), training_of(engine).updates());
    resumed.restart();
    EXPECT_EQ(training_of(resumed).updates(), 0);
    EXPECT_FALSE(state_of(resumed) == checkpoint);
  }
}

TEST_P(CudaEngineSuite, TakesTheLearningRateThatIsSetInReplaysToo) {
  CudaEngine engine(config_of(GetParam()));
  losses_of(engine, 4);
  const std::string name = engine.parameters().front().name;
  std::vector<float> before(static_cast<std::size_t>(engine.parameters().front().count())), after(before);
  engine.read_parameter(name, before);
  EpochTraining& training = training_of(engine);
  training.set_learning_rate(0);
  losses_of(engine, 1);
  engine.read_parameter(name, after);
  EXPECT_EQ(after, before);
  training.set_learning_rate(1e-3);
  losses_of(engine, 1);
  engine.read_parameter(name, after);
  EXPECT_NE(after, before);
}

INSTANTIATE_TEST_SUITE_P(Networks, CudaEngineSuite, testing::Values(CHEXBENCH_TEST_NETWORKS), ParamName());

// Returns the logits of each of `steps` steps, all with the same weights and images.
std::vector<std::vector<float>> logits_of_steps(const EngineConfig& config, int steps, Reducer& reducer) {
  CudaEngine engine(config);
  std::vector<std::vector<float>> logits;
  for (int i = 0; i < steps; ++i) {
    engine.step(batch_of(0), reducer);
    engine.finish();
    logits.emplace_back(engine.logits().begin(), engine.logits().end());
  }
  return logits;
}

TEST_F(CudaEngineDropout, DropsOtherUnitsAtEveryStepAndOnEveryRankAndNoneWhereItIsOff) {
  EngineConfig config = config_of("mobilenet_v2");
  config.training.learning_rate = 1e-30;  // The weights do not change.
  const auto dropped = logits_of_steps(config, 5, single_);
  EXPECT_EQ(std::set(dropped.begin(), dropped.end()).size(), 5u) << "three of them are replays";
  EXPECT_EQ(dropped, logits_of_steps(config, 5, single_));
  EngineConfig other = config;
  other.rank = 1;
  EXPECT_NE(dropped[0], logits_of_steps(other, 1, single_)[0]);
  other = config;
  other.model.dropout = false;
  const auto whole = logits_of_steps(other, 2, single_);
  EXPECT_EQ(whole[0], whole[1]);
}

TEST_F(CudaEngineFaults, ALossOfNanNamesStepAndLayerAndLeavesTheWeightsAlone) {
  CudaEngine engine(config_of("resnet50"));
  losses(engine, single_, 1);
  std::vector<float> before(64), after(64);
  engine.read_parameter("bn1.weight", before);
  engine.load_weights([](const TensorInfo& info, std::span<float> values) {
    model::random_weights(1, {model::Draw::he_fan_out})(info, values);
    if (info.name == "layer2.1.conv2.weight") values[7] = std::numeric_limits<float>::quiet_NaN();
  });
  engine.read_parameter("bn1.weight", before);
  engine.step(batch_of(0), single_);
  try {
    engine.finish();
    ADD_FAILURE() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("step 1"), HasSubstr("layer2.1.conv2 is the first layer")));
  }
  engine.read_parameter("bn1.weight", after);
  EXPECT_EQ(after, before);
}

TEST_F(CudaEngineFaults, OverflowInHalfPrecisionSkipsTheStepAndHalvesTheScale) {
  CudaEngine engine(config_of("resnet50", Precision::fp16));
  // The last weights are so large that scaled gradients overflow fp16, and the logits so small that the loss does not.
  engine.load_weights([](const TensorInfo& info, std::span<float> values) {
    model::random_weights(1, {model::Draw::he_fan_out})(info, values);
    if (info.name == "bn1.bias") std::ranges::fill(values, 0.5f);
    if (info.name == "layer4.2.bn3.weight") std::ranges::fill(values, 200.0f);
  });
  std::vector<float> before(64 * 3 * 49), after(before.size());
  engine.read_parameter("conv1.weight", before);
  losses(engine, single_, 1);
  engine.read_parameter("conv1.weight", after);
  EXPECT_EQ(after, before) << "the first scale is too large for these gradients";
}

TEST_F(CudaEngineFaults, ABatchThatDoesNotFitTheMemorySaysWhichWould) {
  EngineConfig config = config_of("resnet50");
  config.model.image_size = 512;
  config.training.batch_size = 4096;
  try {
    CudaEngine engine(config);
    ADD_FAILURE() << "it fits";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("GB more than is free"), HasSubstr("would fit")));
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda
