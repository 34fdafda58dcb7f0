// The options of a training (optimizer, weight decay, clipping, moving average, loss) in a whole engine, tested through
// engine.hpp alone for each engine that trains.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "engine/checkpoint_tensors.hpp"
#include "engine/contract.hpp"
#include "engine/torch_update.hpp"
#include "engine/training_engine.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::learning {
namespace {

constexpr int kImages = 4, kSize = 32, kOutputs = 5;
constexpr double kRate = 1e-3, kDecay = 0.1, kMomentum = 0.9;
const char* const kLastBias = "classifier.1.bias";

EngineConfig learning_config() {
  EngineConfig config;
  config.model.name = "mobilenet_v2";
  config.model.image_size = kSize;
  config.training.batch_size = kImages;
  config.training.learning_rate = kRate;
  config.training.momentum = kMomentum;
  config.training.deterministic = true;
  config.deliver = Deliver::u8;
  config.outputs = kOutputs;
  return config;
}

BatchLease classes_batch(int number) {
  const auto pool = BatchPool::create(
      {.images = kImages, .height = kSize, .width = kSize, .deliver = Deliver::u8, .labels = kOutputs}, 1,
      host_allocator());
  BatchLease batch = pool->acquire({});
  std::vector<float> noise(batch->shape.bytes());
  model::fill_formula_signed("learning", std::to_string(number), noise);
  for (std::size_t i = 0; i < noise.size(); ++i)
    batch->images[i] = static_cast<std::byte>(static_cast<std::uint8_t>(127.0f + 127.0f * noise[i]));
  std::ranges::fill(batch->labels, 0.0f);
  for (int image = 0; image < kImages; ++image)
    batch->label(image)[static_cast<std::size_t>((image + number) % kOutputs)] = 1;
  batch->valid = kImages;
  return batch;
}

// One rank, so nothing is averaged.
class OneRank final : public Reducer {
 public:
  void reduce(BucketSpan, ReadyEvent) override {}
  void wait() override {}
  bool capturable() const override { return true; }
  ReducerTimings timings() const override { return {}; }
  int world() const override { return 1; }
};

// An engine that trains, and its steps.
class LearningEngine {
 public:
  explicit LearningEngine(const EngineUnderTest& kind, const EngineConfig& config) : engine_(kind.make(config)) {}
  Engine& operator*() { return *engine_; }
  EpochTraining& training() { return *engine_->epoch_training(); }
  // Does one step and returns its loss.
  double step() {
    engine_->step(classes_batch(steps_++), reducer_);
    engine_->finish();
    return engine_->timings().loss;
  }
  void set_steps(int steps) { steps_ = steps; }

 private:
  OneRank reducer_;
  std::unique_ptr<Engine> engine_;
  int steps_ = 0;
};

TEST_P(EngineContract, ClipsByTheNormOfAllGradientsAndDecaysWeights) {
  if (!GetParam().trains) GTEST_SKIP() << "this engine learns nothing";
  for (const auto kind : {spec::OptimizerKind::adam, spec::OptimizerKind::adamw, spec::OptimizerKind::sgd}) {
    EngineConfig config = learning_config();
    config.training.optimizer = kind;
    config.training.weight_decay = kDecay;
    config.training.clip_gradient_norm = 0.05;
    LearningEngine engine(GetParam(), config);
    std::map<std::string, std::vector<TorchWeight>> twins;
    for (int step = 1; step <= 3; ++step) {
      const Tensors before = weights_of(*engine);
      engine.step();
      const Tensors gradients = read_all(*engine, &Engine::read_gradient), after = weights_of(*engine);
      double squares = 0;
      for (const auto& [name, values] : gradients) {
        for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
      }
      ASSERT_GT(squares, 0.05 * 0.05) << "nothing to clip";
      const double factor = 0.05 / (std::sqrt(squares) + 1e-6);
      for (const auto& [name, values] : gradients) {
        std::vector<TorchWeight>& of_name = twins[name];
        of_name.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
          const double gradient = factor * static_cast<double>(values[i]);
          of_name[i].value = static_cast<double>(before.at(name)[i]);
          of_name[i].update(config.training, gradient);
          ASSERT_NEAR(static_cast<double>(after.at(name)[i]), of_name[i].value,
                      1e-6 + of_name[i].slack(config.training))
              << name << ' ' << i;
        }
      }
    }
  }
}

TEST_P(EngineContract, EvaluatesWithTheMovingAverageOfTheWeights) {
  if (!GetParam().trains) GTEST_SKIP() << "this engine learns nothing";
  EngineConfig config = learning_config();
  config.training.ema_decay = 0.75;
  LearningEngine engine(GetParam(), config);
  const Tensors initial = weights_of(*engine);
  engine.training().swap_average();
  EXPECT_EQ(weights_of(*engine), initial) << "there is no average before the first step";
  Tensors average;
  for (int step = 0; step < 3; ++step) {
    engine.step();
    const Tensors weights = weights_of(*engine);
    if (step == 0) average = weights;
    for (auto& [name, values] : average) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.75f * values[i] + 0.25f * weights.at(name)[i];
    }
  }
  const Tensors weights = weights_of(*engine);
  std::vector<float> logits(kImages * kOutputs), of_average(logits.size()), again(logits.size());
  engine.training().evaluate(classes_batch(0), logits);
  engine.training().swap_average();
  for (const auto& [name, values] : weights_of(*engine)) {
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(static_cast<double>(values[i]), static_cast<double>(average.at(name)[i]), 1e-6) << name;
  }
  engine.training().evaluate(classes_batch(0), of_average);
  engine.training().swap_average();
  engine.training().evaluate(classes_batch(0), again);
  EXPECT_NE(of_average, logits);
  EXPECT_EQ(again, logits);
  EXPECT_EQ(weights_of(*engine), weights);
}

TEST_P(EngineContract, ResumesToTheBitWithAllOptions) {
  if (!GetParam().trains) GTEST_SKIP() << "this engine learns nothing";
  EngineConfig config = learning_config();
  config.training.optimizer = spec::OptimizerKind::adamw;
  config.training.weight_decay = kDecay;
  config.training.clip_gradient_norm = 0.05;
  config.training.ema_decay = 0.9;
  config.training.task = spec::Task::classes;
  config.training.label_smoothing = 0.1;
  LearningEngine engine(GetParam(), config), resumed(GetParam(), config);
  for (int step = 0; step < 2; ++step) engine.step();
  const Tensors checkpoint = state_of(*engine);
  EXPECT_TRUE(checkpoint.contains(std::string("ema.") + kLastBias));
  resumed.step();
  resumed.training().resume(source_of(checkpoint), engine.training().updates());
  resumed.set_steps(2);
  EXPECT_TRUE(state_of(*resumed) == checkpoint);
  for (int step = 0; step < 2; ++step) EXPECT_EQ(engine.step(), resumed.step());
  EXPECT_TRUE(state_of(*resumed) == state_of(*engine));
}

TEST_P(EngineContract, TrainsExclusiveClassesByTheirSoftmax) {
  if (!GetParam().trains) GTEST_SKIP() << "this engine learns nothing";
  EngineConfig config = learning_config();
  config.training.task = spec::Task::classes;
  config.training.label_smoothing = 0.1;
  config.class_weights = {1, 2, 3, 4, 5};
  LearningEngine engine(GetParam(), config);
  const double loss = engine.step();
  const std::span<const float> logits = (*engine).logits();
  std::vector<float> of_bias(kOutputs);
  (*engine).read_gradient(kLastBias, of_bias);
  double exact = 0, mass = 0;
  std::vector<double> slopes(kOutputs, 0.0);
  for (std::size_t image = 0; image < kImages; ++image) {
    const std::span<const float> row = logits.subspan(image * kOutputs, kOutputs);
    const double sum = std::accumulate(
        row.begin(), row.end(), 0.0, [](double so_far, float z) { return so_far + std::exp(static_cast<double>(z)); });
    const auto share = [&](std::size_t c) {
      return (static_cast<double>(c) + 1) * ((c == image ? 0.9 : 0.0) + 0.1 / kOutputs);
    };
    double shares = 0;
    for (std::size_t c = 0; c < kOutputs; ++c) {
      shares += share(c);
      exact += share(c) * (std::log(sum) - static_cast<double>(row[c]));
    }
    for (std::size_t c = 0; c < kOutputs; ++c)
      slopes[c] += std::exp(static_cast<double>(row[c])) / sum * shares - share(c);
    mass += static_cast<double>(image) + 1;
  }
  EXPECT_NEAR(loss, exact / mass, 1e-5);
  for (std::size_t c = 0; c < kOutputs; ++c) EXPECT_NEAR(static_cast<double>(of_bias[c]), slopes[c] / mass, 1e-6);
}

}  // namespace
}  // namespace chexbench::engine::learning
