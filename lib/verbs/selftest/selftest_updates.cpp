#include "verbs/selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "engine/torch_update.hpp"
#include "engine/training_engine.hpp"
#include "model/weights.hpp"
#include "verbs/selftest/comparison.hpp"

namespace chexbench::verbs {
namespace {

constexpr int kImages = 4, kSize = 64, kOutputs = 5, kLastUpdate = 3;
constexpr double kRate = 1e-3, kMomentum = 0.9, kDecay = 0.1, kClip = 0.05, kAverage = 0.75, kSmoothing = 0.1;
constexpr double kMostOfWeights = 2e-6, kMostOfLoss = 1e-5;
const std::vector<float> kClassWeights = {1, 2, 3, 4, 5};

using Tensors = std::map<std::string, std::vector<float>>;

engine::EngineConfig config_of(spec::OptimizerKind optimizer, spec::Task task) {
  engine::EngineConfig config;
  config.model.name = "mobilenet_v2";
  config.model.image_size = kSize;
  config.training.batch_size = kImages;
  config.training.optimizer = optimizer;
  config.training.learning_rate = kRate;
  config.training.momentum = kMomentum;
  config.training.weight_decay = kDecay;
  config.training.clip_gradient_norm = kClip;
  config.training.ema_decay = kAverage;
  config.training.task = task;
  config.training.label_smoothing = kSmoothing;
  config.outputs = kOutputs;
  config.class_weights = kClassWeights;
  config.plan_choice.candidates = 1;
  config.cores = usable_cores();
  return config;
}

// Fills a batch with one class per image, which serves both tasks.
void fill(int number, Batch& batch) {
  model::fill_formula_signed("updates", std::to_string(number), batch.f32());
  std::ranges::fill(batch.labels, 0.0f);
  for (int image = 0; image < kImages; ++image)
    batch.label(image)[static_cast<std::size_t>((image + number) % kOutputs)] = 1;
  batch.valid = kImages;
}

Tensors read_all(const engine::Engine& engine,
                 void (engine::Engine::*read)(const std::string&, std::span<float>) const) {
  Tensors tensors;
  for (const model::TensorInfo& info : engine.parameters()) {
    std::vector<float>& values = tensors[info.name];
    values.resize(static_cast<std::size_t>(info.count()));
    (engine.*read)(info.name, values);
  }
  return tensors;
}

double sigmoid_loss(std::span<const float> logits, const std::vector<float>& labels) {
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto z = static_cast<double>(logits[i]), weight = static_cast<double>(kClassWeights[i % kOutputs]);
    const double t = static_cast<double>(labels[i]) * (1 - kSmoothing) + kSmoothing / 2;
    sum += weight * t * std::log1p(std::exp(-z)) + (1 - t) * std::log1p(std::exp(z));
  }
  return sum / static_cast<double>(logits.size());
}

double softmax_loss(std::span<const float> logits, const std::vector<float>& labels) {
  double sum = 0, mass = 0;
  for (std::size_t at = 0; at < logits.size(); at += kOutputs) {
    double exponentials = 0;
    for (std::size_t c = 0; c < kOutputs; ++c) exponentials += std::exp(static_cast<double>(logits[at + c]));
    for (std::size_t c = 0; c < kOutputs; ++c) {
      const auto weight = static_cast<double>(kClassWeights[c]), label = static_cast<double>(labels[at + c]);
      const double target = label * (1 - kSmoothing) + kSmoothing / kOutputs;
      sum += weight * target * (std::log(exponentials) - static_cast<double>(logits[at + c]));
      mass += weight * label;
    }
  }
  return sum / mass;
}

// The expected value of one weight, and its moving average.
struct Twin {
  engine::TorchWeight weight;
  double average = 0;

  void update(const spec::TrainingSpec& training, double gradient) {
    weight.update(training, gradient);
    average = weight.updates == 1 ? weight.value : kAverage * average + (1 - kAverage) * weight.value;
  }
  // How much farther `computed` is from the exact value than f32 has to be. NaN if `computed` is, which this order of
  // max's arguments preserves, so that a NaN is reported.
  double deviation(const spec::TrainingSpec& training, float computed, double exact) const {
    return std::max(std::abs(static_cast<double>(computed) - exact) - weight.slack(training), 0.0);
  }
};

// Trains by one optimizer and one loss, and adds how far the engine is from the formulas.
class Updates {
 public:
  Updates(const std::string& name, spec::OptimizerKind optimizer, spec::Task task)
      : config_(config_of(optimizer, task)), engine_(engine::make_engine(name, config_)) {
    if (!engine_->traits().trains)
      throw SpecError("selftest updates: '" + name + "' trains nothing; use auto, cuda or onednn");
    pool_ = BatchPool::create({.images = kImages, .height = kSize, .width = kSize, .labels = kOutputs}, 1,
                              engine_->allocator());
  }

  void run(Comparison& losses, Comparison& weights, Comparison& averages) {
    for (int number = 1; number <= kLastUpdate; ++number) step(number, losses, weights);
    engine_->epoch_training()->swap_average();
    for (const auto& [name, values] : read_all(*engine_, &engine::Engine::read_parameter)) {
      const std::vector<Twin>& twins = twins_.at(name);
      for (std::size_t i = 0; i < values.size(); ++i)
        averages.add(twins[i].deviation(config_.training, values[i], twins[i].average), name);
    }
  }

 private:
  void step(int number, Comparison& losses, Comparison& weights) {
    const Tensors before = read_all(*engine_, &engine::Engine::read_parameter);
    BatchLease batch = pool_->acquire({});
    fill(number, *batch);
    const std::vector<float> labels = batch->labels;
    engine_->step(std::move(batch), *reducer_);
    engine_->finish();
    const auto loss_of = config_.training.task == spec::Task::classes ? softmax_loss : sigmoid_loss;
    losses.add(std::abs(engine_->timings().loss - loss_of(engine_->logits(), labels)), fmt::format("step {}", number));
    const Tensors gradients = read_all(*engine_, &engine::Engine::read_gradient);
    double squares = 0;
    for (const auto& [name, values] : gradients) squares += std::pow(l2_norm(values), 2);
    const double factor = std::min(1.0, kClip / (std::sqrt(squares) + 1e-6));
    for (const auto& [name, values] : read_all(*engine_, &engine::Engine::read_parameter)) {
      std::vector<Twin>& twins = twins_[name];
      twins.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        twins[i].weight.value = static_cast<double>(before.at(name)[i]);
        twins[i].update(config_.training, factor * static_cast<double>(gradients.at(name)[i]));
        weights.add(twins[i].deviation(config_.training, values[i], twins[i].weight.value), name);
      }
    }
  }

  const engine::EngineConfig config_;
  const std::unique_ptr<Reducer> reducer_ = comm::make_single_reducer();  // outlives the engine
  const std::unique_ptr<engine::Engine> engine_;
  std::shared_ptr<BatchPool> pool_;
  std::map<std::string, std::vector<Twin>> twins_;
};

}  // namespace

std::string selftest_updates(const std::string& engine) {
  std::string text;
  bool holds = true;
  for (const auto task : {spec::Task::multi_label, spec::Task::classes}) {
    for (const auto optimizer : {spec::OptimizerKind::adam, spec::OptimizerKind::adamw, spec::OptimizerKind::sgd}) {
      Comparison losses("loss", kMostOfLoss), weights("weights", kMostOfWeights), averages("averages", kMostOfWeights);
      Updates(engine, optimizer, task).run(losses, weights, averages);
      text += fmt::format("{}, {}\n", spec::to_string(optimizer), spec::to_string(task));
      for (const Comparison* const one : {&losses, &weights, &averages}) {
        text += "  " + one->text();
        holds = holds && one->holds();
      }
    }
  }
  if (!holds) throw ComparisonError("updates differ from the formulas of torch.optim:\n" + text);
  return text;
}

}  // namespace chexbench::verbs
