// Tests the engine through the interface that the trial loop uses, on small images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../emulated_fixture.hpp"
#include "../gradients.hpp"
#include "core/cpu_features.hpp"
#include "core/errors.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr int kSize = 64;

EngineConfig onednn_config(int batch_size = 4, const std::string& model = "resnet50") {
  EngineConfig config;
  config.model.name = model;
  config.model.image_size = kSize;
  config.training.batch_size = batch_size;
  config.training.optimizer = spec::OptimizerKind::sgd;
  config.training.learning_rate = 1e-2;
  return config;
}

// Returns images [first, first + images) of an endless series as a batch, so that the same images can be cut into
// batches in different ways.
BatchLease series(int images, int first = 0, Deliver deliver = Deliver::u8) {
  const auto pool =
      BatchPool::create({.images = images, .height = kSize, .width = kSize, .deliver = deliver}, 1, host_allocator());
  BatchLease batch = pool->acquire({});
  constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f};
  for (int image = 0; image < images; ++image) {
    std::vector<float> noise(kSize * kSize);
    model::fill_formula_signed("series", std::to_string(first + image), noise);
    model::fill_formula_labels("series", std::to_string(first + image), batch->label(image));
    for (std::size_t pixel = 0; pixel < noise.size(); ++pixel) {
      const auto gray = static_cast<std::uint8_t>(127.0f + 127.0f * noise[pixel]);
      if (deliver == Deliver::u8) {
        batch->image(image)[pixel] = static_cast<std::byte>(gray);
        continue;
      }
      for (std::size_t c = 0; c < 3; ++c) {
        reinterpret_cast<float*>(batch->image(image))[pixel * 3 + c] =
            (static_cast<float>(gray) / 255.0f - kMean[c]) / kDeviation[c];
      }
    }
  }
  batch->valid = images;
  return batch;
}

std::unique_ptr<Engine> make_u8(EngineConfig config) {
  config.deliver = Deliver::u8;
  return make_engine("onednn", config);
}

TEST(OnednnEngine, LearnsABatchByHeart) {
  for (const auto optimizer : {spec::OptimizerKind::sgd, spec::OptimizerKind::adam}) {
    EngineConfig config = onednn_config();
    config.training.optimizer = optimizer;
    config.training.learning_rate = optimizer == spec::OptimizerKind::sgd ? 1e-2 : 1e-3;
    const auto engine = make_u8(config);
    RecordingReducer reducer(1);
    engine->step(series(4), reducer);
    const double first = engine->timings().loss;
    for (int i = 0; i < 6; ++i) engine->step(series(4), reducer);
    EXPECT_LT(engine->timings().loss, 0.7 * first);
  }
}

// Returns the largest relative distance between the two engines' gradients of a parameter.
double worst_gradient_error(const Engine& engine, const Engine& expected) {
  double worst = 0;
  for (const TensorInfo& info : expected.parameters()) {
    const auto values = gradient(expected, info);
    worst = std::max(worst, distance(gradient(engine, info), values) / norm(values));
  }
  return worst;
}

// Three batches of 2 images as one step, and one batch of 6 images: with frozen batch norms and without dropout, they
// give the same losses, gradients and weights except for rounding.
TEST(OnednnEngine, AveragesTheGradientsOfAStepsBatchesAsOfOneLargeBatch) {
  for (const char* model : {"resnet50", "densenet121"}) {
    EngineConfig config = onednn_config(6, model);
    config.model.batch_norm = spec::BatchNormMode::frozen;
    config.training.learning_rate = 1e-4;  // nothing is normalized, so larger steps would amplify rounding
    const auto whole = make_u8(config);
    config.training.batch_size = 2;
    config.training.accumulate_steps = 3;
    const auto parts = make_u8(config);
    RecordingReducer of_whole(1), of_parts(1);
    for (int step = 1; step <= 3; ++step) {
      whole->step(series(6, 6 * step), of_whole);
      for (int batch = 0; batch < 3; ++batch) {
        EXPECT_EQ(of_parts.waits, step - 1);
        EXPECT_EQ(of_parts.counts.size(), of_whole.counts.size() / static_cast<std::size_t>(step) * (step - 1u));
        EXPECT_EQ(parts->steps_finished(), step - 1);
        parts->step(series(2, 6 * step + 2 * batch), of_parts);
      }
      EXPECT_EQ(of_parts.counts, of_whole.counts) << "the last batch's backward sends all buckets, once";
      EXPECT_EQ(of_parts.waits, step);
      EXPECT_EQ(parts->steps_finished(), step);
      EXPECT_EQ(parts->timings().images, 6);
      // In later steps the rounding of earlier updates has grown, and an activation near zero may go either way (AVX2
      // has 4 % in a layer). A batch that counts twice or not at all would change a third.
      EXPECT_NEAR(parts->timings().loss, whole->timings().loss, 1e-4 * whole->timings().loss) << model << ", " << step;
      EXPECT_LT(worst_gradient_error(*parts, *whole), step == 1 ? 1e-4 : 0.1) << model << ", step " << step;
    }
  }
}

TEST(OnednnEngine, DropsOtherUnitsInEachBatchOfAStep) {
  EngineConfig config = onednn_config(2, "mobilenet_v2");
  config.training.accumulate_steps = 2;
  const auto engine = make_u8(config);
  RecordingReducer reducer(1);
  engine->step(series(2), reducer);
  const std::vector<float> first(engine->logits().begin(), engine->logits().end());
  engine->step(series(2), reducer);
  EXPECT_NE(first, std::vector<float>(engine->logits().begin(), engine->logits().end()));
}

// The networks include dropout.
TEST(OnednnEngine, RestartRepeatsTheSameLossesBitForBit) {
  for (const char* model : {"densenet121", "googlenet", "mobilenet_v2"}) {
    const auto engine = make_u8(onednn_config(2, model));
    RecordingReducer reducer(1);
    std::vector<double> losses[2];
    for (auto& repeat : losses) {
      engine->restart();
      EXPECT_EQ(engine->steps_finished(), 0);
      for (int i = 0; i < 3; ++i) {
        engine->step(series(2, 2 * i), reducer);
        repeat.push_back(engine->timings().loss);
      }
    }
    EXPECT_EQ(losses[0], losses[1]) << model;
  }
}

// Returns the logits of the first and the second step, on the same weights and images.
std::vector<std::vector<float>> logits_of_two_steps(const EngineConfig& config) {
  const auto engine = make_u8(config);
  RecordingReducer reducer(1);
  std::vector<std::vector<float>> logits;
  for (int i = 0; i < 2; ++i) {
    engine->step(series(config.training.batch_size), reducer);
    logits.emplace_back(engine->logits().begin(), engine->logits().end());
  }
  return logits;
}

TEST(OnednnEngine, DropsOtherUnitsAtEveryStepAndOnEveryRankAndNoneWhereItIsOff) {
  EngineConfig config = onednn_config(2, "mobilenet_v2");
  config.training.learning_rate = 1e-30;  // the weights stay the same
  const auto dropped = logits_of_two_steps(config);
  EXPECT_NE(dropped[0], dropped[1]);
  EXPECT_EQ(dropped, logits_of_two_steps(config));
  EngineConfig other = config;
  other.rank = 1;
  EXPECT_NE(dropped[0], logits_of_two_steps(other)[0]);
  other = config;
  other.model.dropout = false;
  const auto whole = logits_of_two_steps(other);
  EXPECT_EQ(whole[0], whole[1]);
}

TEST(OnednnEngine, GrayBytesAndNormalizedFloatsGiveTheSameLogits) {
  RecordingReducer reducer(1);
  const auto gray = make_u8(onednn_config());
  gray->step(series(4), reducer);
  const auto floats = make_engine("onednn", onednn_config());
  floats->step(series(4, 0, Deliver::f32), reducer);
  EXPECT_EQ(std::vector<float>(gray->logits().begin(), gray->logits().end()),
            std::vector<float>(floats->logits().begin(), floats->logits().end()));
}

// Returns a batch of colors of noise, as bytes or as a pipeline's floats of the same bytes.
BatchLease colors(int images, Deliver deliver) {
  const auto pool =
      BatchPool::create({.images = images, .height = kSize, .width = kSize, .deliver = deliver}, 1, host_allocator());
  BatchLease batch = pool->acquire({});
  constexpr float kMean[] = {0.485f, 0.456f, 0.406f}, kDeviation[] = {0.229f, 0.224f, 0.225f};
  std::vector<float> noise(batch->shape.bytes() / batch->shape.element_bytes());
  model::fill_formula_signed("colors", "images", noise);
  model::fill_formula_labels("colors", "labels", batch->labels);
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const auto value = static_cast<std::uint8_t>(127.0f + 127.0f * noise[i]);
    if (deliver == Deliver::f32) {
      batch->f32()[i] = (static_cast<float>(value) / 255.0f - kMean[i % 3]) / kDeviation[i % 3];
    } else {
      batch->images[i] = std::byte{value};
    }
  }
  batch->valid = images;
  return batch;
}

TEST(OnednnEngine, ColorsOfBytesAndOfNormalizedFloatsGiveTheSameLogits) {
  RecordingReducer reducer(1);
  EngineConfig config = onednn_config();
  const auto floats = make_engine("onednn", config);
  floats->step(colors(4, Deliver::f32), reducer);
  config.deliver = Deliver::u8_rgb;
  const auto bytes = make_engine("onednn", config);
  bytes->step(colors(4, Deliver::u8_rgb), reducer);
  EXPECT_EQ(std::vector<float>(bytes->logits().begin(), bytes->logits().end()),
            std::vector<float>(floats->logits().begin(), floats->logits().end()));
  EXPECT_THROW(bytes->step(series(4), reducer), SpecError) << "one channel of gray";
}

// Frozen norms make images independent, so the mean of the gradients of two halves is that of the whole batch.
TEST(OnednnEngine, TwoRanksGiveTheGradientsOfOneOnTheDoubleBatch) {
  for (const char* model : {"resnet50", "densenet121"}) {
    EngineConfig config = onednn_config(2, model);
    config.model.batch_norm = spec::BatchNormMode::frozen;
    EngineConfig whole_config = config;
    whole_config.training.batch_size = 4;
    RecordingReducer reducer(2);
    const auto left = make_u8(config), right = make_u8(config), whole = make_u8(whole_config);
    left->step(series(2, 0), reducer);
    right->step(series(2, 2), reducer);
    whole->step(series(4, 0), reducer);
    for (const TensorInfo& info : whole->parameters()) {
      auto mean = gradient(*left, info);
      const auto other = gradient(*right, info);
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = (mean[i] + other[i]) / 2;
      const auto expected = gradient(*whole, info);
      EXPECT_LT(distance(mean, expected), 2e-3 * norm(expected) + 1e-9) << info.name;
    }
  }
}

TEST(OnednnEngine, FrozenNormsKeepTheirRunningStatistics) {
  EngineConfig config = onednn_config();
  const auto count_moved = [&](spec::BatchNormMode mode) {
    config.model.batch_norm = mode;
    const auto engine = make_u8(config);
    RecordingReducer reducer(1);
    engine->step(series(4), reducer);
    int moved = 0;
    for (const TensorInfo& info : engine->buffers()) {
      std::vector<float> values(static_cast<std::size_t>(info.count()));
      engine->read_buffer(info.name, values);
      const float start = info.name.ends_with("var") ? 1.0f : 0.0f;
      moved += values != std::vector<float>(values.size(), start) ? 1 : 0;
    }
    return moved;
  };
  EXPECT_EQ(count_moved(spec::BatchNormMode::frozen), 0);
  EXPECT_EQ(count_moved(spec::BatchNormMode::train), 106);
}

// The other engine trains all layers and gets the base's first weights back after each step.
TEST(OnednnEngine, AFrozenBaseHasTheLossesOfAWholeBackwardToTheBitInLessMemory) {
  for (const char* model : {"alexnet", "densenet121", "googlenet", "resnet50", "mobilenet_v2"}) {
    EngineConfig config = onednn_config(8, model);
    config.training.momentum = 0;  // so that only the weights are remembered
    config.model.batch_norm = spec::BatchNormMode::frozen;
    config.model.dropout = false;
    const auto whole = make_u8(config);
    config.model.freeze = spec::Freeze::base;
    const auto frozen = make_u8(config);
    EXPECT_LT(frozen->held_bytes() * 10, whole->held_bytes() * 6) << model;
    RecordingReducer reducer(1);
    for (int step = 0; step < 3; ++step) {
      frozen->step(series(8, 8 * step), reducer);
      whole->step(series(8, 8 * step), reducer);
      EXPECT_EQ(frozen->timings().loss, whole->timings().loss) << model << ", step " << step;
      EXPECT_TRUE(std::ranges::equal(frozen->logits(), whole->logits())) << model << ", step " << step;
      const Tensors trained = state_of(*frozen);
      whole->load_weights(source_of(trained));
    }
    const TensorInfo of_base = frozen->parameters().back();
    EXPECT_EQ(norm(gradient(*frozen, of_base)), 0) << of_base.name;
  }
}

TEST(OnednnEngine, HandsEveryGradientToTheReducerInBucketsWhileBackwardRuns) {
  EngineConfig config = onednn_config();
  config.comm.first_bucket_bytes = 1 << 16;
  config.comm.bucket_bytes = 8 << 20;
  const auto engine = make_u8(config);
  RecordingReducer reducer(2);
  engine->step(series(4), reducer);
  EXPECT_GT(reducer.counts.size(), 8u);
  std::size_t total = 0;
  for (const std::size_t count : reducer.counts) total += count;
  EXPECT_GE(total, 23536718u);
  EXPECT_LT(total, 23536718u + 1000u);  // the parameters of ResNet50, and padding
}

TEST(OnednnEngine, UpdatesWithWhatTheReducerLeaves) {
  class ZeroingReducer final : public Reducer {
   public:
    void reduce(BucketSpan bucket, ReadyEvent) override { std::ranges::fill(bucket.floats(), 0.0f); }
    void wait() override {}
    ReducerTimings timings() const override { return {}; }
    int world() const override { return 2; }
  } reducer;
  const auto engine = make_u8(onednn_config());
  std::vector<float> before(64 * 3 * 49), after(before.size());
  engine->read_parameter("conv1.weight", before);
  engine->step(series(4), reducer);
  engine->read_parameter("conv1.weight", after);
  EXPECT_EQ(before, after);
}

TEST(OnednnEngine, ScalesRandomWeightsAsTorchvisionDoesForTheNetwork) {
  for (const auto& [model, name, fan] :
       {std::tuple{"resnet50", "conv1.weight", 64 * 49}, {"densenet121", "features.conv0.weight", 3 * 49}}) {
    std::vector<float> values(64 * 3 * 49);
    make_u8(onednn_config(1, model))->read_parameter(name, values);
    const double deviation = norm(values) / std::sqrt(static_cast<double>(values.size()));
    EXPECT_NEAR(deviation, std::sqrt(2.0 / fan), 0.05 * deviation) << model;
  }
}

TEST(OnednnEngine, Bf16StaysNearF32) {
  if (!cpu_features().avx512_bf16) GTEST_SKIP() << "this CPU has no AVX512-BF16";
  for (const char* model : {"resnet50", "densenet121"}) {
    RecordingReducer reducer(1);
    EngineConfig config = onednn_config(8, model);
    const auto f32 = make_u8(config);
    config.training.precision = spec::Precision::bf16;
    const auto bf16 = make_u8(config);
    f32->step(series(8), reducer);
    bf16->step(series(8), reducer);
    EXPECT_NEAR(bf16->timings().loss, f32->timings().loss, 0.03 * f32->timings().loss);
    const TensorInfo last = f32->parameters().front();
    const auto expected = gradient(*f32, last);
    // Fifty norms, each over a few values, amplify the rounding; gradient_test.cpp checks small networks more strictly.
    EXPECT_LT(distance(gradient(*bf16, last), expected), 0.35 * norm(expected)) << model;
  }
}

TEST(OnednnEngine, RefusesPrecisionsThatNoCpuHas) {
  for (const auto precision : {spec::Precision::fp16, spec::Precision::tf32}) {
    EngineConfig config = onednn_config();
    config.training.precision = precision;
    EXPECT_THROW(make_u8(config), DeviceError);
  }
}

}  // namespace
}  // namespace chexbench::engine::onednn
