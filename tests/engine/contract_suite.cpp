// The contract of engine.hpp, tested for each engine through its interface alone.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/contract.hpp"
#include "engine/emulated_fixture.hpp"
#include "engine/training_engine.hpp"
#include "model/weights.hpp"

namespace chexbench::engine {
namespace {

using testing::HasSubstr;

constexpr int kImages = 4;
constexpr int kSize = 32;
constexpr std::size_t kParameters = 2'241'806;  // of MobileNetV2 with 14 outputs, the smallest of the networks

EngineConfig config_of(int world = 1, int accumulate_steps = 1) {
  EngineConfig config;
  config.model.name = "mobilenet_v2";
  config.model.image_size = kSize;
  config.training.batch_size = kImages;
  config.training.accumulate_steps = accumulate_steps;
  config.training.learning_rate = 1e-3;
  config.deliver = Deliver::u8;
  config.world = world;
  return config;
}

BatchLease batch_of(int images = kImages, int size = kSize, int number = 0) {
  const auto pool =
      BatchPool::create({.images = images, .height = size, .width = size, .deliver = Deliver::u8}, 1, host_allocator());
  BatchLease batch = pool->acquire({});
  std::vector<float> noise(batch->shape.bytes());
  model::fill_formula_signed("contract", std::to_string(number), noise);
  model::fill_formula_labels("contract", std::to_string(number), batch->labels);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    batch->images[i] = static_cast<std::byte>(static_cast<std::uint8_t>(127.0f + 127.0f * noise[i]));
  }
  batch->valid = images;
  return batch;
}

double parts_s(const measure::StepTimings& t) {
  return t.wait_s + t.upload_s + t.compute_s + t.exposed_communication_s + t.update_s + t.other_s;
}

std::vector<double> losses_of(Engine& engine, Reducer& reducer, int steps) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    engine.step(batch_of(kImages, kSize, step), reducer);
    engine.finish();
    losses.push_back(engine.timings().loss);
  }
  return losses;
}

std::vector<float> parameter(const Engine& engine, const TensorInfo& info) {
  std::vector<float> values(static_cast<std::size_t>(info.count()));
  engine.read_parameter(info.name, values);
  return values;
}

TEST_P(EngineContract, SaysWhatItIs) {
  const auto engine = GetParam().make(config_of());
  EXPECT_THAT(engine->traits().name, testing::StartsWith(GetParam().kind));
  EXPECT_FALSE(engine->traits().device.empty());
  EXPECT_EQ(engine->traits().emulated, GetParam().kind == "emulated");
  EXPECT_EQ(engine->traits().trains, GetParam().trains);
  EXPECT_EQ(engine->epoch_training() != nullptr, GetParam().trains);
}

TEST_P(EngineContract, EachCallFinishesAtMostOneStepAndFinishFinishesAll) {
  const auto engine = GetParam().make(config_of());
  RecordingReducer reducer(1);
  for (int step = 1; step <= 4; ++step) {
    const std::int64_t before = engine->steps_finished();
    engine->step(batch_of(), reducer);
    EXPECT_LE(engine->steps_finished(), before + 1);
    EXPECT_GE(engine->steps_finished(), step - 1) << "the host runs at most one step ahead";
  }
  engine->finish();
  EXPECT_EQ(engine->steps_finished(), 4);
}

TEST_P(EngineContract, PartsOfAStepSumToItsWallTimeAndStepsFollowEachOther) {
  const auto engine = GetParam().make(config_of());
  RecordingReducer reducer(1);
  double last_end_s = 0;
  for (int step = 0; step < 3; ++step) {
    engine->step(batch_of(), reducer);
    engine->finish();
    const measure::StepTimings& t = engine->timings();
    EXPECT_NEAR(parts_s(t), t.wall_s, 1e-9);
    EXPECT_DOUBLE_EQ(t.forward_s + t.backward_s, t.compute_s);
    for (const double part_s : {t.wait_s, t.upload_s, t.compute_s, t.exposed_communication_s, t.update_s}) {
      EXPECT_GE(part_s, 0);
    }
    EXPECT_EQ(t.images, kImages);
    EXPECT_EQ(std::isfinite(t.loss), GetParam().trains);
    EXPECT_LE(t.end_s, now_s());
    if (step > 0) {
      EXPECT_NEAR(t.end_s - last_end_s, t.wall_s, 1e-9);
    }
    last_end_s = t.end_s;
  }
}

TEST_P(EngineContract, HasGivenItsBatchBackWhenTheStepIsFinished) {
  const auto engine = GetParam().make(config_of());
  const auto pool = BatchPool::create({.images = kImages, .height = kSize, .width = kSize, .deliver = Deliver::u8}, 1,
                                      host_allocator());
  RecordingReducer reducer(1);
  for (int step = 0; step < 3; ++step) {
    BatchLease batch = pool->acquire({});  // It would not return if the engine had kept the pool's only batch.
    batch->valid = kImages;
    engine->step(std::move(batch), reducer);
    engine->finish();
  }
  EXPECT_EQ(engine->steps_finished(), 3);
}

TEST_P(EngineContract, SeveralBatchesAreOneStepAndAveragedOnce) {
  const auto engine = GetParam().make(config_of(2, 3));
  RecordingReducer reducer(2);
  for (int batch = 1; batch <= 7; ++batch) {
    engine->step(batch_of(), reducer);
    engine->finish();
    EXPECT_EQ(engine->steps_finished(), batch / 3);
    EXPECT_EQ(reducer.waits, GetParam().drops_batches ? 0 : batch / 3);
  }
  EXPECT_EQ(engine->timings().images, 3 * kImages);
  EXPECT_NEAR(parts_s(engine->timings()), engine->timings().wall_s, 1e-9);
}

TEST_P(EngineContract, AveragesEachGradientOfTheNetworkOnceAStep) {
  const auto engine = GetParam().make(config_of(2));
  RecordingReducer reducer(2);
  const auto reduced = [&] { return std::accumulate(reducer.counts.begin(), reducer.counts.end(), std::size_t{0}); };
  engine->step(batch_of(), reducer);
  engine->finish();
  if (GetParam().drops_batches) {
    EXPECT_EQ(reduced(), 0u);
    return;
  }
  const std::size_t of_one_step = reduced();
  EXPECT_GE(of_one_step, kParameters);
  EXPECT_LT(of_one_step, kParameters * 102 / 100) << "padding is small";
  EXPECT_EQ(engine->timings().communication_busy_s, 0.25) << "as the reducer reports it";
  engine->step(batch_of(), reducer);
  engine->finish();
  EXPECT_EQ(reduced(), 2 * of_one_step);
}

bool is_head(const TensorInfo& info) { return info.name.find("classifier.1.") != std::string::npos; }

std::vector<float> gradient(const Engine& engine, const char* name, std::size_t count) {
  std::vector<float> values(count);
  engine.read_gradient(name, values);
  return values;
}

TEST_P(EngineContract, OfAFrozenBaseOnlyTheHeadIsTrainedSentAndKept) {
  if (!GetParam().trains) GTEST_SKIP() << "it has no tensors";
  EngineConfig config = config_of(2, 2);
  config.model.freeze = spec::Freeze::base;
  const auto engine = GetParam().make(config);
  std::vector<std::vector<float>> before;
  for (const TensorInfo& info : engine->parameters()) before.push_back(parameter(*engine, info));
  RecordingReducer reducer(2);
  losses_of(*engine, reducer, 4);
  const std::vector<TensorInfo> infos = engine->parameters();
  for (std::size_t i = 0; i < infos.size(); ++i)
    EXPECT_EQ(parameter(*engine, infos[i]) != before[i], is_head(infos[i])) << infos[i].name;
  for (const TensorInfo& info : engine->buffers()) {
    std::vector<float> values(static_cast<std::size_t>(info.count()));
    engine->read_buffer(info.name, values);
    const float at_first = info.name.ends_with("running_var") ? 1.0f : 0.0f;
    EXPECT_THAT(values, testing::Each(at_first)) << info.name;
  }
  constexpr std::size_t kHead = 14 * 1280 + 14;
  const std::size_t sent = std::accumulate(reducer.counts.begin(), reducer.counts.end(), std::size_t{0});
  EXPECT_GE(sent, 2 * kHead);
  EXPECT_LT(sent, 2 * kHead * 3 / 2) << "padding is small";
  EXPECT_EQ(engine->epoch_training()->moments().size(), 4u);
  for (const TensorInfo& info : engine->epoch_training()->moments()) EXPECT_TRUE(is_head(info)) << info.name;
  EXPECT_THAT(engine->traits().notes, testing::Contains(HasSubstr("only layer 'classifier.1' is trained")));
}

TEST_P(EngineContract, TheHeadOfAFrozenBaseHasTheGradientOfAWholeBackward) {
  if (!GetParam().trains) GTEST_SKIP() << "it has no tensors";
  EngineConfig config = config_of();
  config.model.batch_norm = spec::BatchNormMode::frozen;
  const auto whole = GetParam().make(config);
  config.model.batch_norm = spec::BatchNormMode::train;  // a frozen base overrides it
  config.model.freeze = spec::Freeze::base;
  const auto frozen = GetParam().make(config);
  RecordingReducer reducer(1);
  EXPECT_EQ(losses_of(*frozen, reducer, 1), losses_of(*whole, reducer, 1));
  EXPECT_EQ(gradient(*frozen, "classifier.1.weight", 14 * 1280), gradient(*whole, "classifier.1.weight", 14 * 1280));
  EXPECT_EQ(gradient(*frozen, "classifier.1.bias", 14), gradient(*whole, "classifier.1.bias", 14));
}

TEST_P(EngineContract, RefusesABatchOfAnotherShapeAndGoesOn) {
  const auto engine = GetParam().make(config_of());
  RecordingReducer reducer(1);
  BatchLease partial = batch_of();
  partial->valid = kImages - 1;
  if (GetParam().drops_batches) {
    engine->step(std::move(partial), reducer);
    EXPECT_EQ(engine->timings().images, kImages - 1);
    return;
  }
  try {
    engine->step(std::move(partial), reducer);
    ADD_FAILURE() << "no error";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("set drop_remainder"));
  }
  EXPECT_THROW(engine->step(batch_of(kImages / 2), reducer), SpecError);
  EXPECT_THROW(engine->step(batch_of(kImages, kSize / 2), reducer), SpecError);
  engine->step(batch_of(), reducer);
  engine->finish();
  EXPECT_EQ(engine->steps_finished(), 1);
}

TEST_P(EngineContract, RestartForgetsStepsAndRepeatsTheirLosses) {
  const auto engine = GetParam().make(config_of());
  RecordingReducer reducer(1);
  const std::vector<double> first = losses_of(*engine, reducer, 2);
  engine->restart();
  EXPECT_EQ(engine->steps_finished(), 0);
  const std::vector<double> again = losses_of(*engine, reducer, 2);
  EXPECT_EQ(engine->steps_finished(), 2);
  if (GetParam().trains) {
    EXPECT_EQ(again, first);
    EXPECT_NE(first[0], first[1]);
  }
}

TEST_P(EngineContract, RestartForgetsAStepThatHasBegun) {
  const auto engine = GetParam().make(config_of(1, 2));
  RecordingReducer reducer(1);
  engine->step(batch_of(), reducer);
  engine->restart();
  engine->step(batch_of(), reducer);
  engine->finish();
  EXPECT_EQ(engine->steps_finished(), 0);
}

TEST_P(EngineContract, CanBeDestroyedInTheMiddleOfAStep) {
  RecordingReducer reducer(1);
  for (int i = 0; i < 2; ++i) GetParam().make(config_of(1, 2))->step(batch_of(), reducer);
}

TEST_P(EngineContract, HasTheTensorsOfItsNetworkOrNone) {
  const auto engine = GetParam().make(config_of());
  std::size_t count = 0;
  for (const TensorInfo& info : engine->parameters()) count += static_cast<std::size_t>(info.count());
  EXPECT_EQ(count, GetParam().trains ? kParameters : 0u);
  EXPECT_EQ(engine->buffers().size(), GetParam().trains ? 104u : 0u);
  EXPECT_EQ(engine->held_bytes() > 0, GetParam().trains);
  if (GetParam().trains) return;
  std::vector<float> values(kNihLabels);
  EXPECT_THROW(engine->read_parameter("classifier.1.bias", values), DeviceError);
  EXPECT_THROW(engine->read_gradient("classifier.1.bias", values), DeviceError);
  EXPECT_THROW(engine->read_buffer("features.0.1.running_mean", values), DeviceError);
  EXPECT_THROW(engine->logits(), DeviceError);
}

TEST_P(EngineContract, RestartRestoresTheWeightsThatWereLoaded) {
  const auto engine = GetParam().make(config_of());
  engine->load_weights(model::formula_weights("load"));
  RecordingReducer reducer(1);
  losses_of(*engine, reducer, 1);
  engine->restart();
  for (const TensorInfo& info : engine->parameters()) {
    std::vector<float> expected(static_cast<std::size_t>(info.count()));
    model::formula_weights("load")(info, expected);
    ASSERT_EQ(parameter(*engine, info), expected) << info.name;
  }
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const SpecError& error) {
    return error.what();
  }
  return "no SpecError";
}

TEST_P(EngineContract, ReadsATensorByItsNameIntoItsSizeOnly) {
  if (!GetParam().trains) GTEST_SKIP() << "it has no tensors";
  const auto engine = GetParam().make(config_of());
  std::vector<float> values(kNihLabels);
  EXPECT_THAT(error_of([&] { engine->read_parameter("classifier.1.biass", values); }),
              HasSubstr("'classifier.1.bias'?"));
  EXPECT_THAT(error_of([&] { engine->read_gradient("classifier.1.biass", values); }),
              HasSubstr("'classifier.1.bias'?"));
  EXPECT_THAT(error_of([&] { engine->read_buffer("features.0.1.running_meam", values); }),
              HasSubstr("'features.0.1.running_mean'?"));
  for (const std::size_t size : {13u, 15u}) {
    values.resize(size);
    const std::string expected = "'classifier.1.bias' has 14 values, not " + std::to_string(size);
    EXPECT_EQ(error_of([&] { engine->read_parameter("classifier.1.bias", values); }), expected);
    EXPECT_EQ(error_of([&] { engine->read_gradient("classifier.1.bias", values); }), expected);
  }
  values.resize(80);
  EXPECT_EQ(error_of([&] { engine->read_buffer("features.0.1.running_mean", values); }),
            "'features.0.1.running_mean' has 32 values, not 80");
}

}  // namespace
}  // namespace chexbench::engine
