// Tests whole steps of the engine: the same seed gives the same weights, and each step changes them according to the
// optimizer.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "../emulated_fixture.hpp"
#include "core/affinity.hpp"
#include "core/cpu_features.hpp"
#include "engine/checkpoint_tensors.hpp"
#include "engine/torch_update.hpp"
#include "engine/training_engine.hpp"
#include "model/weights.hpp"

namespace chexbench::engine::onednn {
namespace {

using spec::OptimizerKind;
using spec::Precision;

struct MobileNetV2Sgd {
  static constexpr const char *kName = "MobileNetV2Sgd", *kModel = "mobilenet_v2";
  static constexpr auto kOptimizer = OptimizerKind::sgd;
  static constexpr auto kPrecision = Precision::f32;
};
struct DenseNet121Adam {
  static constexpr const char *kName = "DenseNet121Adam", *kModel = "densenet121";
  static constexpr auto kOptimizer = OptimizerKind::adam;
  static constexpr auto kPrecision = Precision::f32;
};
struct MobileNetV2AdamBf16 {
  static constexpr const char *kName = "MobileNetV2AdamBf16", *kModel = "mobilenet_v2";
  static constexpr auto kOptimizer = OptimizerKind::adam;
  static constexpr auto kPrecision = Precision::bf16;
};

template <typename Kind>
class EngineSteps : public testing::Test {
 protected:
  void SetUp() override {
    if (Kind::kPrecision == Precision::bf16 && !cpu_features().avx512_bf16) GTEST_SKIP() << "no AVX512-BF16 here";
    config_ = small_config();
    config_.model.name = Kind::kModel;
    config_.model.dropout = false;  // It draws from the seed of the model, which is not in a checkpoint.
    config_.training.optimizer = Kind::kOptimizer;
    config_.training.precision = Kind::kPrecision;
    config_.cores = usable_cores();
    config_.cores.resize(std::min<std::size_t>(config_.cores.size(), 2));
  }
  static constexpr int kSteps = 3;

  std::unique_ptr<Engine> make(std::uint64_t seed) {
    config_.model.seed = seed;
    return make_engine("onednn", config_);
  }
  BatchLease filled(int step, int valid = 4) {
    BatchLease batch = batches_.next(valid);
    model::fill_formula_signed("steps", "input" + std::to_string(step), batch->f32());
    model::fill_formula_labels("steps", "target" + std::to_string(step), batch->labels);
    return batch;
  }
  void step(Engine& engine, int step) { engine.step(filled(step), reducer_); }
  // Returns all weights and running statistics after some steps.
  std::vector<std::vector<float>> trained(std::uint64_t seed) {
    const auto engine = make(seed);
    for (int i = 0; i < kSteps; ++i) step(*engine, i);
    std::vector<std::vector<float>> tensors;
    for (const TensorInfo& info : engine->parameters()) {
      engine->read_parameter(info.name, tensors.emplace_back(static_cast<std::size_t>(info.count())));
    }
    for (const TensorInfo& info : engine->buffers()) {
      engine->read_buffer(info.name, tensors.emplace_back(static_cast<std::size_t>(info.count())));
    }
    return tensors;
  }

  EngineConfig config_;
  BatchSource batches_;
  RecordingReducer reducer_{1};
};

struct Names {
  template <typename Kind>
  static std::string GetName(int) {
    return Kind::kName;
  }
};
using Kinds = testing::Types<MobileNetV2Sgd, DenseNet121Adam, MobileNetV2AdamBf16>;
TYPED_TEST_SUITE(EngineSteps, Kinds, Names);

TYPED_TEST(EngineSteps, TwoEnginesOfOneSeedHoldTheSameBits) {
  const auto once = this->trained(1);
  EXPECT_TRUE(once == this->trained(1));
  EXPECT_FALSE(once == this->trained(2));
}

TYPED_TEST(EngineSteps, MoveEachWeightAsAScalarTwinOfTheOptimizer) {
  const auto engine = this->make(1);
  const std::vector<TensorInfo> all = engine->parameters();
  std::vector<TensorInfo> some{all.front(), all[1], all[all.size() / 2], all[all.size() - 2], all.back()};
  std::vector<std::vector<TorchWeight>> twins;
  std::vector<float> values;
  for (const TensorInfo& info : some) {
    values.resize(static_cast<std::size_t>(info.count()));
    engine->read_parameter(info.name, values);
    auto& of_tensor = twins.emplace_back();
    for (const float value : values) of_tensor.push_back({.value = static_cast<double>(value)});
  }
  for (int step = 0; step < this->kSteps; ++step) {
    this->step(*engine, step);
    for (std::size_t tensor = 0; tensor < some.size(); ++tensor) {
      values.resize(twins[tensor].size());
      engine->read_gradient(some[tensor].name, values);
      for (std::size_t i = 0; i < values.size(); ++i)
        twins[tensor][i].update(this->config_.training, static_cast<double>(values[i]));
    }
  }
  for (std::size_t tensor = 0; tensor < some.size(); ++tensor) {
    values.resize(twins[tensor].size());
    engine->read_parameter(some[tensor].name, values);
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(values[i]) - twins[tensor][i].value));
    }
    EXPECT_LT(worst, 1e-6) << some[tensor].name;
    EXPECT_NE(twins[tensor].front().first, 0) << some[tensor].name << " has no gradient to move by";
  }
}

TYPED_TEST(EngineSteps, GoOnFromACheckpointWithTheSameBits) {
  const auto engine = this->make(1);
  for (int i = 0; i < 2; ++i) this->step(*engine, i);
  const Tensors checkpoint = state_of(*engine);
  const auto resumed = this->make(2);
  resumed->epoch_training()->resume(source_of(checkpoint), engine->epoch_training()->updates());
  EXPECT_TRUE(state_of(*resumed) == checkpoint);
  for (Engine* const one : {engine.get(), resumed.get()}) this->step(*one, 2);
  EXPECT_TRUE(state_of(*resumed) == state_of(*engine));
  EXPECT_EQ(resumed->epoch_training()->updates(), 3);
}

TYPED_TEST(EngineSteps, RestartForgetsWhatWasResumed) {
  const auto engine = this->make(1);
  const Tensors initial = state_of(*engine);
  this->step(*engine, 0);
  const Tensors later = state_of(*engine);
  EXPECT_FALSE(later == initial);
  engine->epoch_training()->resume(source_of(later), 1);
  engine->restart();
  EXPECT_TRUE(state_of(*engine) == initial);
  EXPECT_EQ(engine->epoch_training()->updates(), 0);
}

TYPED_TEST(EngineSteps, EvaluateAsAFrozenNetworkAndChangeNothing) {
  const auto engine = this->make(1);
  for (int i = 0; i < 2; ++i) this->step(*engine, i);
  const Tensors trained = state_of(*engine);
  std::vector<float> logits(static_cast<std::size_t>(4) * kNihLabels);
  engine->epoch_training()->evaluate(this->filled(7), logits);
  EXPECT_TRUE(state_of(*engine) == trained);

  this->config_.model.batch_norm = spec::BatchNormMode::frozen;
  const auto frozen = this->make(1);
  frozen->load_weights(source_of(trained));
  this->step(*frozen, 7);
  EXPECT_TRUE(std::ranges::equal(logits, frozen->logits()));

  engine->epoch_training()->evaluate(this->filled(7, 3), std::span(logits).first(std::size_t{3} * kNihLabels));
  EXPECT_TRUE(std::ranges::equal(logits, frozen->logits())) << "a batch that is not full";
}

// Without care AlexNet's would differ on two threads, and ResNet50's on 16: oneDNN divides their linear layers' sums.
TEST(Evaluation, HasTheSameBitsOnAnyNumberOfThreads) {
  constexpr int kImages = 16, kSide = 64;
  const std::vector<int> usable = usable_cores();
  for (const auto& [model, teams] :
       {std::pair("alexnet", std::vector{1, 2, 3}), std::pair("resnet50", std::vector{1, 16}),
        std::pair("densenet121", std::vector{1, 3})}) {
    std::vector<float> first;
    for (const int threads : teams) {
      EngineConfig config = small_config(kImages);
      config.model.name = model;
      config.model.image_size = kSide;
      for (int i = 0; i < threads; ++i) config.cores.push_back(usable[static_cast<std::size_t>(i) % usable.size()]);
      const auto pool = BatchPool::create({.images = kImages, .height = kSide, .width = kSide}, 1, host_allocator());
      BatchLease batch = pool->acquire({});
      batch->valid = kImages;
      model::fill_formula_signed("threads", "input", batch->f32());
      std::vector<float> logits(std::size_t{kImages} * kNihLabels);
      make_engine("onednn", config)->epoch_training()->evaluate(std::move(batch), logits);
      if (first.empty()) first = logits;
      EXPECT_TRUE(logits == first) << model << " on " << threads << " threads";
    }
  }
}

TYPED_TEST(EngineSteps, TakeTheLearningRateThatIsSet) {
  const auto engine = this->make(1);
  const Tensors initial = state_of(*engine);
  engine->epoch_training()->set_learning_rate(0);
  this->step(*engine, 0);
  std::vector<float> weights(static_cast<std::size_t>(engine->parameters().front().count()));
  engine->read_parameter(engine->parameters().front().name, weights);
  EXPECT_EQ(weights, initial.at(engine->parameters().front().name));
  engine->restart();  // restores the spec's learning rate
  this->step(*engine, 0);
  engine->read_parameter(engine->parameters().front().name, weights);
  EXPECT_NE(weights, initial.at(engine->parameters().front().name));
}

}  // namespace
}  // namespace chexbench::engine::onednn
