#include "verbs/selftest/selftest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "comm/communicator.hpp"
#include "core/affinity.hpp"
#include "core/errors.hpp"
#include "engine/engine.hpp"
#include "model/weights.hpp"
#include "spec/golden.hpp"
#include "verbs/selftest/comparison.hpp"

namespace chexbench::verbs {
namespace {

using spec::EngineGolden;

double relative(double value, double golden) { return std::abs(value - golden) / std::max(std::abs(golden), 1e-300); }

std::unique_ptr<engine::Engine> make_engine(const SelftestEngine& tested, const EngineGolden& golden,
                                            spec::OptimizerKind optimizer) {
  engine::EngineConfig config;
  config.model.name = golden.model;
  config.model.image_size = golden.image_size;
  config.model.dropout = false;  // golden values are computed without it
  config.training.batch_size = golden.batch;
  config.training.precision = tested.precision;
  config.training.optimizer = optimizer;
  config.training.learning_rate = optimizer == spec::OptimizerKind::adam ? 1e-3 : 1e-2;
  config.training.momentum = 0.9;
  config.plan_choice.candidates = 1;  // only the values matter here, not the speed
  config.cores = usable_cores();
  auto engine = engine::make_engine(tested.name, config);
  if (!engine->traits().trains)
    throw SpecError("selftest engine: '" + tested.name + "' trains nothing; use auto, cuda or onednn");
  engine->load_weights(model::formula_weights(golden.salt));
  return engine;
}

// Fills the batch from a formula. The formula's order is NCHW, that of a batch NHWC.
void fill_images(const EngineGolden& golden, Batch& batch) {
  const auto pixels = static_cast<std::size_t>(golden.image_size) * static_cast<std::size_t>(golden.image_size);
  const auto channels = static_cast<std::size_t>(batch.shape.channels());
  std::vector<float> planes(batch.f32().size());
  model::fill_formula_signed(golden.salt, "input", planes);
  for (std::size_t i = 0; i < planes.size(); ++i) {
    const std::size_t image = i / (channels * pixels), channel = i / pixels % channels, pixel = i % pixels;
    batch.f32()[(image * pixels + pixel) * channels + channel] = planes[i];
  }
}

// Makes one step on the golden batch and returns its loss.
double step(engine::Engine& engine, const EngineGolden& golden, Reducer& reducer) {
  const auto pool = BatchPool::create(
      {.images = golden.batch, .height = golden.image_size, .width = golden.image_size, .deliver = Deliver::f32}, 1,
      engine.allocator());
  BatchLease batch = pool->acquire({});
  fill_images(golden, *batch);
  model::fill_formula_labels(golden.salt, "target", batch->labels);
  batch->valid = golden.batch;
  engine.step(std::move(batch), reducer);
  engine.finish();
  return engine.timings().loss;
}

double count_of(const spec::GradientGolden& gradient) {
  return static_cast<double>(std::accumulate(gradient.shape.begin(), gradient.shape.end(), std::int64_t{1},
                                             [](auto a, auto b) { return a * b; }));
}

// Returns the RMS of a parameter's gradient. If the gradient is zero in exact arithmetic, like that of a bias before a
// batch norm, returns the largest RMS of the layer's gradients instead.
double gradient_scale(const EngineGolden& golden, const std::string& name) {
  const auto rms = [](const spec::GradientGolden& gradient) { return gradient.l2 / std::sqrt(count_of(gradient)); };
  const double own = rms(golden.gradients.at(name));
  double layer = own;
  for (const auto& [other, gradient] : golden.gradients) {
    if (layer_of(other) == layer_of(name)) layer = std::max(layer, rms(gradient));
  }
  return own < 1e-6 * layer ? layer : own;
}

class Selftest {
 public:
  explicit Selftest(const EngineGolden& golden) : golden_(golden) {}

  void compare_names(const engine::Engine& engine) const {
    std::int64_t count = 0;
    for (const engine::TensorInfo& info : engine.parameters()) {
      const auto gradient = golden_.gradients.find(info.name);
      if (gradient == golden_.gradients.end() || gradient->second.shape != info.shape) {
        throw ComparisonError("the golden file has no parameter " + info.name + " of that shape");
      }
      count += info.count();
    }
    if (count != golden_.parameters) {
      throw ComparisonError(fmt::format("{} parameters, the golden file has {}", count, golden_.parameters));
    }
  }

  void compare_forward(const engine::Engine& engine, double loss) {
    const auto logits = engine.logits();
    double largest = 0;
    for (const double logit : golden_.logits) largest = std::max(largest, std::abs(logit));
    for (std::size_t i = 0; i < golden_.logits.size(); ++i) {
      logits_.add(std::abs(static_cast<double>(logits[i]) - golden_.logits[i]) / largest, fmt::format("[{}]", i));
    }
    loss_.add(relative(loss, golden_.loss), "");
  }

  void compare_gradients(const engine::Engine& engine) {
    for (const auto& [name, golden] : golden_.gradients) {
      std::vector<float> values(static_cast<std::size_t>(count_of(golden)));
      engine.read_gradient(name, values);
      const double scale = gradient_scale(golden_, name);
      const double deviation = std::abs(l2_norm(values) - golden.l2) / (scale * std::sqrt(count_of(golden)));
      gradient_norms_.add(deviation, name);
      gradient_norms_median_.add(deviation, name);
      for (std::size_t i = 0; i < golden.index.size(); ++i) {
        const auto value = static_cast<double>(values[golden.index[i]]);
        const double entry_deviation = std::abs(value - golden.value[i]) / scale;
        const std::string where = fmt::format("{}[{}]", name, golden.index[i]);
        gradient_entries_.add(entry_deviation, where);
        gradient_entries_median_.add(entry_deviation, where);
      }
    }
  }

  void compare_buffers(const engine::Engine& engine) {
    for (const engine::TensorInfo& info : engine.buffers()) {
      const auto golden = golden_.buffers.find(info.name);
      if (golden == golden_.buffers.end()) throw ComparisonError("the golden file has no buffer " + info.name);
      std::vector<float> values(static_cast<std::size_t>(info.count()));
      if (golden->second.first.size() > values.size()) {
        throw ComparisonError("the golden file has more entries of " + info.name + " than the engine");
      }
      engine.read_buffer(info.name, values);
      buffers_.add(relative(l2_norm(values), golden->second.l2), info.name);
      for (std::size_t i = 0; i < golden->second.first.size(); ++i) {
        buffers_.add(std::abs(static_cast<double>(values[i]) - golden->second.first[i]) / golden->second.l2, info.name);
      }
    }
  }

  // Compares the losses of the first steps only, because later losses are chaotic with small batches.
  void compare_losses(const char* optimizer, const std::vector<double>& losses, const std::vector<double>& golden) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      losses_.add(relative(losses[i], golden.at(i)), fmt::format("step {} of {}", i + 1, optimizer));
    }
  }

  // Returns the summary.
  // @throws ComparisonError if one comparison fails
  std::string result(const std::string& device) const {
    std::string text = fmt::format("engine: {} of batch {} at {}x{}, {}\n", golden_.model, golden_.batch,
                                   golden_.image_size, golden_.image_size, device);
    bool holds = true;
    for (const Comparison* one : {&logits_, &loss_, &gradient_norms_, &gradient_norms_median_, &gradient_entries_,
                                  &gradient_entries_median_, &buffers_, &losses_}) {
      text += one->text();
      holds = holds && one->holds();
    }
    if (!holds) throw ComparisonError("the engine differs from the golden values:\n" + text);
    return text;
  }

 private:
  const EngineGolden& golden_;
  Comparison logits_{"logits", 1e-3};
  Comparison loss_{"loss", 5e-4};
  Comparison gradient_norms_{"gradient norms", 2e-2};
  Comparison gradient_norms_median_{"gradient norms, median", 2e-3, Comparison::By::median};
  Comparison gradient_entries_{"gradient entries", 5e-1};
  Comparison gradient_entries_median_{"gradient entries, median", 2e-2, Comparison::By::median};
  Comparison buffers_{"running statistics", 2e-3};
  Comparison losses_{"losses of two steps", 5e-2};
};

}  // namespace

std::string selftest_engine(const std::string& golden_path, const SelftestEngine& tested) {
  if (tested.precision != spec::Precision::f32) {
    throw SpecError("selftest engine: " + spec::to_string(tested.precision) +
                    " is too inexact to be compared with the golden values; use f32, or compare it with f32, without "
                    "--golden");
  }
  const EngineGolden golden = spec::load_engine_golden(golden_path);
  Selftest selftest(golden);
  const auto reducer = comm::make_single_reducer();  // must outlive the engines
  std::string device;
  {
    const auto engine = make_engine(tested, golden, spec::OptimizerKind::sgd);
    device = engine->traits().device;
    selftest.compare_names(*engine);
    const double first = step(*engine, golden, *reducer);
    selftest.compare_forward(*engine, first);
    selftest.compare_gradients(*engine);
    selftest.compare_buffers(*engine);
    selftest.compare_losses("SGD", {first, step(*engine, golden, *reducer)}, golden.losses_sgd);
  }
  const auto engine = make_engine(tested, golden, spec::OptimizerKind::adam);
  const double first = step(*engine, golden, *reducer);
  selftest.compare_losses("Adam", {first, step(*engine, golden, *reducer)}, golden.losses_adam);
  return selftest.result(device);
}

}  // namespace chexbench::verbs
