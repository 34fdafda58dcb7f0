#include "engine/onednn/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/random.hpp"
#include "engine/checks.hpp"
#include "engine/initial_weights.hpp"
#include "engine/onednn/loss.hpp"
#include "engine/onednn/parallel.hpp"
#include "engine/onednn/upload.hpp"
#include "model/networks.hpp"

namespace chexbench::engine {
namespace {

// Before anything computes: the OpenMP team is made, and bound as its maker is, at the first parallel region.
Device prepare_device(const EngineConfig& config) {
  bind_this_thread(config.cores);
  set_parallel_threads(std::max(1, static_cast<int>(config.cores.size())));
  return make_device(config.training.precision);
}

// Each rank drops other units: together they see a batch of independent draws.
std::optional<std::uint64_t> dropout_seed(const EngineConfig& config) {
  if (!config.model.dropout) return std::nullopt;
  return derive_seed(derive_seed(config.model.seed, fnv1a64("dropout")), static_cast<std::uint64_t>(config.rank));
}

std::vector<std::int64_t> parameter_counts(const ParameterStore& store) {
  std::vector<std::int64_t> counts;
  for (const auto& slot : store.slots()) counts.push_back(static_cast<std::int64_t>(slot->count));
  return counts;
}

std::span<float> floats(const Tensor& tensor) {
  return {reinterpret_cast<float*>(tensor.data),
          static_cast<std::size_t>(tensor.shape.images) * static_cast<std::size_t>(tensor.shape.channels)};
}

}  // namespace

OnednnEngine::OnednnEngine(const EngineConfig& config)
    : shape_{config.training.batch_size, config.model.image_size, config.model.image_size, config.deliver},
      device_(prepare_device(config)),
      network_(device_, model::make_network(config.model.name, config.model.image_size), config.training.batch_size,
               config.model.batch_norm == spec::BatchNormMode::frozen, dropout_seed(config)),
      optimizer_(config.training, device_.isa, network_.store().size()),
      buckets_(network_.store().gradients(), parameter_counts(network_.store()),
               {config.comm.first_bucket_bytes, config.comm.bucket_bytes}) {
  traits_.name = "onednn";
  traits_.device = device_text(device_);
  load_weights(initial_weights(config.model));
}

double OnednnEngine::compute_loss(std::span<const float> labels) {
  return binary_cross_entropy(floats(network_.logits()), labels, floats(network_.logits_gradient()));
}

void OnednnEngine::step(BatchLease batch, Reducer& reducer) {
  check_batch(traits_.name, shape_, *batch);
  measure::StepTimings timings;
  timings.images = batch->valid;
  const double begin_s = now_s();
  timings.wait_s = begin_s - last_end_s_;
  double mark_s = begin_s;
  const auto lap = [&mark_s] {
    const double now = now_s();
    return now - std::exchange(mark_s, now);
  };

  upload(*batch, network_.input());
  const std::vector<float> labels = batch->labels;
  batch.release();
  timings.upload_s = lap();

  network_.begin_step(steps_finished_);
  network_.forward();
  timings.loss = compute_loss(labels);
  timings.forward_s = lap();

  buckets_.begin_step();
  network_.backward([&](std::size_t ready) { buckets_.complete(ready, reducer); });
  timings.backward_s = lap();

  reducer.wait();
  timings.exposed_communication_s = lap();

  optimizer_.update(network_.store().weights(), network_.store().gradients());
  network_.refresh_weights();
  timings.update_s = lap();

  timings.compute_s = timings.forward_s + timings.backward_s;
  timings.communication_busy_s = reducer.timings().busy_s;
  timings.end_s = mark_s;
  timings.wall_s = timings.end_s - last_end_s_;
  timings.other_s = timings.wall_s - (timings.wait_s + timings.upload_s + timings.compute_s +
                                      timings.exposed_communication_s + timings.update_s);
  last_end_s_ = timings.end_s;
  timings_ = timings;
  ++steps_finished_;
}

void OnednnEngine::restart() {
  const auto weights = network_.store().weights();
  std::copy(initial_weights_.span().begin(), initial_weights_.span().end(), weights.begin());
  for (std::size_t i = 0; i < initial_buffers_.size(); ++i) *network_.buffers()[i].values = initial_buffers_[i];
  network_.refresh_weights();
  optimizer_.restart();
  timings_ = {};
  steps_finished_ = 0;
  last_end_s_ = now_s();
}

void OnednnEngine::remember_weights() {
  const auto weights = network_.store().weights();
  if (initial_weights_.size() == 0) initial_weights_ = FloatArray(weights.size());
  std::copy(weights.begin(), weights.end(), initial_weights_.data());
  initial_buffers_.clear();
  for (const BufferSlot& buffer : network_.buffers()) initial_buffers_.push_back(*buffer.values);
}

void OnednnEngine::load_weights(const WeightSource& source) {
  std::vector<float> values;
  for (const auto& slot : network_.store().slots()) {
    values.resize(static_cast<std::size_t>(slot->info.count()));
    source(slot->info, values);
    network_.store().load(*slot, values);
  }
  for (const BufferSlot& buffer : network_.buffers()) {
    source(buffer.info, std::span(*buffer.values).first(static_cast<std::size_t>(buffer.info.count())));
  }
  remember_weights();
  restart();
}

std::size_t OnednnEngine::held_bytes() const {
  return network_.held_bytes() + optimizer_.held_bytes() + 3 * network_.store().size() * sizeof(float);
}

std::vector<TensorInfo> OnednnEngine::parameters() const {
  std::vector<TensorInfo> infos;
  for (const auto& slot : network_.store().slots()) infos.push_back(slot->info);
  return infos;
}

std::vector<TensorInfo> OnednnEngine::buffers() const {
  std::vector<TensorInfo> infos;
  for (const BufferSlot& buffer : network_.buffers()) infos.push_back(buffer.info);
  return infos;
}

void OnednnEngine::read_parameter(const std::string& name, std::span<float> values) const {
  const ParameterSlot& slot = network_.store().slot(name);
  network_.store().read(slot, slot.weights, values);
}

void OnednnEngine::read_gradient(const std::string& name, std::span<float> values) const {
  const ParameterSlot& slot = network_.store().slot(name);
  network_.store().read(slot, slot.gradient, values);
}

void OnednnEngine::read_buffer(const std::string& name, std::span<float> values) const {
  std::vector<std::string> names;
  for (const BufferSlot& buffer : network_.buffers()) {
    if (buffer.info.name == name) {
      check_size(buffer.info, values.size());
      std::copy_n(buffer.values->begin(), values.size(), values.begin());
      return;
    }
    names.push_back(buffer.info.name);
  }
  throw SpecError("no buffer '" + name + "'" + suggestion(name, names));
}

std::span<const float> OnednnEngine::logits() const { return floats(network_.logits()); }

}  // namespace chexbench::engine
