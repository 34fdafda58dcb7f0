#include "verbs/selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "engine/training_engine.hpp"
#include "model/networks.hpp"
#include "model/parameters.hpp"
#include "model/weights.hpp"
#include "verbs/selftest/comparison.hpp"

namespace chexbench::verbs {
namespace {

using spec::Precision;

constexpr const char* kSalt = "precision";  // for the formulas of images and labels
constexpr std::uint64_t kSeed = 1;
constexpr float kNormWeight = 0.5f, kNormBias = 1;  // 2 % of a norm's outputs are below zero
constexpr double kNoLearning = 1e-30;               // a learning rate that leaves every weight unchanged
constexpr double kLearningRate = 1e-4;
constexpr std::int64_t kUpdates = 4;  // before gradients are read: a CUDA graph is replayed from the third on
constexpr int kMostSteps = 40;        // to reach it: fp16 skips some until its loss scale fits
constexpr int kSteps = 20;

enum class Fusion { none, forced };

std::unique_ptr<engine::Engine> make_engine(const PrecisionGate& gate, const std::string& model, Precision precision,
                                            Fusion fusion) {
  engine::EngineConfig config;
  config.model.name = model;
  config.model.image_size = gate.image_size;
  config.model.dropout = false;  // it would differ from step to step
  config.training.batch_size = gate.batch_size;
  config.training.precision = precision;
  config.training.learning_rate = kNoLearning;
  config.training.fused = fusion == Fusion::forced;
  config.plan_choice = {.candidates = fusion == Fusion::forced ? std::nullopt : std::optional(1),
                        .forces_fused = fusion == Fusion::forced};
  config.cores = usable_cores();
  auto engine = engine::make_engine(gate.engine, config);
  if (!engine->traits().trains || engine->epoch_training() == nullptr)
    throw SpecError("selftest engine: '" + gate.engine + "' trains nothing; use auto, cuda or onednn");
  return engine;
}

// Returns random weights, and norms with few outputs near the zero of their ReLU. With torchvision's, rounding flips so
// many signs that gradients of early layers are completely different.
model::WeightSource calm_weights(const std::string& model, int image_size) {
  std::set<std::string> norm_weights, norm_biases;
  for (const model::Parameter& parameter : model::parameters(model::make_network(model, image_size, kNihLabels))) {
    if (parameter.role == model::ParameterRole::norm_weight) norm_weights.insert(parameter.info.name);
    if (parameter.role == model::ParameterRole::norm_bias) norm_biases.insert(parameter.info.name);
  }
  return [=, random = model::random_weights(kSeed, model::weight_draws(model))](const model::TensorInfo& info,
                                                                                std::span<float> values) {
    random(info, values);
    if (norm_weights.contains(info.name)) std::ranges::fill(values, kNormWeight);
    if (norm_biases.contains(info.name)) std::ranges::fill(values, kNormBias);
  };
}

// Trains an engine on one batch repeatedly.
class Trainee {
 public:
  Trainee(engine::Engine& engine, const PrecisionGate& gate)
      : engine_(engine),
        pool_(BatchPool::create(
            {.images = gate.batch_size, .height = gate.image_size, .width = gate.image_size, .deliver = Deliver::f32},
            1, engine.allocator())) {}

  // Returns the loss before the step's update.
  double step(Reducer& reducer) {
    BatchLease batch = pool_->acquire({});
    model::fill_formula_signed(kSalt, "input", batch->f32());
    model::fill_formula_labels(kSalt, "target", batch->labels);
    batch->valid = batch->shape.images;
    engine_.step(std::move(batch), reducer);
    engine_.finish();
    return engine_.timings().loss;
  }

  void read_gradients(Learned& learned) const {
    for (const engine::TensorInfo& info : engine_.parameters()) {
      learned.names.push_back(info.name);
      learned.gradients.emplace_back(static_cast<std::size_t>(info.count()));
      engine_.read_gradient(info.name, learned.gradients.back());
    }
  }

 private:
  engine::Engine& engine_;
  const std::shared_ptr<BatchPool> pool_;
};

Learned learn(const PrecisionGate& gate, const std::string& model, Precision precision, Fusion fusion) {
  const auto reducer = comm::make_single_reducer();  // must outlive the engine
  const auto engine = make_engine(gate, model, precision, fusion);
  engine->load_weights(calm_weights(model, gate.image_size));
  engine::EpochTraining& training = *engine->epoch_training();
  Trainee trainee(*engine, gate);
  Learned learned{.device = engine->traits().device};
  for (int steps = 0; training.updates() < kUpdates; ++steps) {
    if (steps == kMostSteps) {
      throw DeviceError(
          fmt::format("selftest engine: {} in {} made {} updates in {} steps: its gradients are not finite", model,
                      spec::to_string(precision), training.updates(), steps));
    }
    trainee.step(*reducer);
  }
  trainee.read_gradients(learned);
  training.set_learning_rate(kLearningRate);
  for (int i = 0; i < kSteps; ++i) learned.losses.push_back(trainee.step(*reducer));
  return learned;
}

// Appends all comparisons of a model to `text`, and returns whether they hold.
bool compare_model(const PrecisionGate& gate, const std::string& model, std::string& text) {
  const Trainings trainings{.exact = learn(gate, model, Precision::f32, Fusion::none),
                            .apart = learn(gate, model, gate.precision, Fusion::none),
                            .fused = learn(gate, model, gate.precision, Fusion::forced)};
  const auto& [exact, apart, fused] = trainings;
  text += fmt::format("engine: {} of batch {} at {}x{} in {} against f32, {}\n", model, gate.batch_size,
                      gate.image_size, gate.image_size, spec::to_string(gate.precision), apart.device);
  const bool holds = compare_trainings(trainings, text);
  if (fused.gradients == apart.gradients) text += "  nothing was fused: both computed the same bits\n";
  text += fmt::format(
      "  the losses of the first and the last step: f32 {:.4f} and {:.4f}, separate {:.4f} and {:.4f}, "
      "fused {:.4f} and {:.4f}\n",
      exact.losses.front(), exact.losses.back(), apart.losses.front(), apart.losses.back(), fused.losses.front(),
      fused.losses.back());
  return holds;
}

}  // namespace

std::string precision_gate(const PrecisionGate& gate) {
  if (gate.precision == Precision::f32)
    throw SpecError(
        "selftest engine: f32 is what other precisions are compared with; give --golden for it, or "
        "--precision fp16, bf16 or tf32");
  std::string text;
  bool holds = true;
  for (const std::string& model : gate.models) holds = compare_model(gate, model, text) && holds;
  if (!holds) throw ComparisonError("the engine computes something else:\n" + text);
  return text;
}

}  // namespace chexbench::verbs
