#include "engine/onednn/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/affinity.hpp"
#include "core/clock.hpp"
#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/dropout.hpp"
#include "engine/initial_weights.hpp"
#include "engine/onednn/device.hpp"
#include "engine/onednn/loss.hpp"
#include "engine/onednn/network.hpp"
#include "engine/onednn/parallel.hpp"
#include "model/networks.hpp"

namespace chexbench::engine::onednn {
namespace {

// Must run before any computation: the first parallel region creates the OpenMP threads, which inherit the binding of
// the thread that enters it.
Device prepare_device(const EngineConfig& config) {
  bind_this_thread(config.cores);
  const int team = std::max(1, static_cast<int>(config.cores.size()));
  check_threads(team);
  set_parallel_threads(team);
  return make_device(config.training.precision);
}

std::optional<std::uint64_t> seed_of_dropout(const EngineConfig& config) {
  if (!config.model.dropout) return std::nullopt;
  return dropout_seed(config.model.seed, config.rank);
}

model::Graph graph_of(const EngineConfig& config) {
  model::Graph graph = model::make_network(config.model.name, config.model.image_size, config.outputs);
  return config.class_maps ? model::class_map_network(std::move(graph)) : graph;
}

// Returns the counts of the trained parameters.
std::vector<std::int64_t> parameter_counts(const Network& network) {
  std::vector<std::int64_t> counts;
  for (const auto& slot : network.store().slots()) {
    if (slot->offset < network.trained()) counts.push_back(static_cast<std::int64_t>(slot->count));
  }
  return counts;
}

std::span<float> floats(const Tensor& tensor) {
  return {reinterpret_cast<float*>(tensor.data),
          static_cast<std::size_t>(tensor.shape.images) * static_cast<std::size_t>(tensor.shape.channels)};
}

}  // namespace

OnednnEngine::OnednnEngine(const EngineConfig& config)
    : TrainingEngine(config),
      device_(prepare_device(config)),
      loss_(loss_rule(config.training, config.class_weights)),
      network_(device_, graph_of(config), config.training.batch_size, config.model.has_frozen_norms(),
               seed_of_dropout(config), config.model.freeze),
      optimizer_(config.training, device_.isa, network_.trained()),
      buckets_(network_.store().gradients(), parameter_counts(network_),
               {config.comm.first_bucket_bytes, config.comm.bucket_bytes}),
      accumulation_(network_.store().gradients(), config.training.accumulate_steps) {
  traits_.name = "onednn";
  traits_.device = device_text(network_.device());
  InitialWeights initial = initial_weights(config.model, config.outputs);
  traits_.notes = std::move(initial.notes);
  if (network_.uses_winograd()) traits_.notes.emplace_back("gradients of 3x3 convolutions by Winograd's algorithm");
  load_weights(initial.source);
}

double OnednnEngine::compute_loss(std::span<const float> labels) {
  return loss_of(loss_, static_cast<std::size_t>(shape_.labels), floats(network_.logits()), labels,
                 floats(network_.logits_gradient()));
}

void OnednnEngine::backward(Reducer& reducer) {
  accumulation_.begin(parts().done());
  buckets_.begin_step();
  with_headroom([&] {
    network_.backward([&](std::size_t ready) {
      accumulation_.complete(ready);
      if (parts().is_last()) buckets_.complete(ready, reducer);
    });
  });
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

  network_.begin_batch(optimizer_.steps() * parts().batches() + parts().done());
  network_.forward();
  timings.loss = compute_loss(labels);
  timings.forward_s = lap();

  backward(reducer);
  timings.backward_s = lap();

  if (parts().is_last()) {
    reducer.wait();
    timings.exposed_communication_s = lap();
    timings.communication_busy_s = reducer.timings().busy_s;

    optimizer_.update(network_.store().weights().first(network_.trained()), network_.store().gradients());
    network_.refresh_trained_weights();
    timings.update_s = lap();
  }

  timings.compute_s = timings.forward_s + timings.backward_s;
  timings.end_s = mark_s;
  timings.wall_s = timings.end_s - last_end_s_;
  timings.set_rest();
  last_end_s_ = timings.end_s;
  finish_batch(timings);
}

void OnednnEngine::restart() {
  const auto weights = network_.store().weights();
  std::copy(initial_weights_.span().begin(), initial_weights_.span().end(), weights.begin());
  for (std::size_t i = 0; i < initial_buffers_.size(); ++i) *network_.buffers()[i].values = initial_buffers_[i];
  network_.refresh_weights();
  optimizer_.restart();
  network_.restart_times();
  restart_steps();
  last_end_s_ = now_s();
}

void OnednnEngine::remember_weights() {
  const auto weights = network_.store().weights();
  if (initial_weights_.size() == 0) initial_weights_ = FloatArray(weights.size());
  std::copy(weights.begin(), weights.end(), initial_weights_.data());
  initial_buffers_.clear();
  for (const BufferSlot& buffer : network_.buffers()) initial_buffers_.push_back(*buffer.values);
}

void OnednnEngine::load_parameters(const WeightSource& source) {
  std::vector<float> values;
  for (const auto& slot : network_.store().slots()) {
    values.resize(static_cast<std::size_t>(slot->info.count()));
    source(slot->info, values);
    network_.store().load(*slot, slot->weights, values);
  }
}

void OnednnEngine::load_weights(const WeightSource& source) {
  load_parameters(source);
  set_buffers(source);
  remember_weights();
  restart();
}

std::size_t OnednnEngine::held_bytes() const {
  const ParameterStore& store = network_.store();
  return network_.held_bytes() + optimizer_.held_bytes() + accumulation_.held_bytes() +
         (store.weights().size() + store.gradients().size() + initial_weights_.size()) * sizeof(float);
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
  if (slot.gradient == nullptr) {  // of a frozen base
    check_size(slot.info, values.size());
    std::ranges::fill(values, 0.0f);
    return;
  }
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

void OnednnEngine::evaluate(BatchLease batch, std::span<float> logits) {
  check_shape(traits_.name, shape_, *batch);
  upload(*batch, network_.input());
  const std::size_t wanted = std::min(logits.size(), static_cast<std::size_t>(batch->valid) *
                                                         static_cast<std::size_t>(network_.logits().shape.channels));
  batch.release();
  network_.evaluate();
  std::copy_n(floats(network_.logits()).begin(), wanted, logits.begin());
  leave_out_time();
}

void OnednnEngine::swap_average() {
  optimizer_.swap_average(network_.store().weights().first(network_.trained()));
  network_.refresh_weights();
}

void OnednnEngine::leave_out_time() { last_end_s_ = now_s(); }

void OnednnEngine::set_buffers(const WeightSource& source) {
  for (const BufferSlot& buffer : network_.buffers()) {
    source(buffer.info, std::span(*buffer.values).first(static_cast<std::size_t>(buffer.info.count())));
  }
}

std::vector<OnednnEngine::MomentPlace> OnednnEngine::moment_places() const {
  std::vector<MomentPlace> places;
  for (const Optimizer::Moments& moments : optimizer_.moments()) {
    for (const auto& slot : network_.store().slots()) {
      if (slot->offset >= network_.trained()) break;
      places.push_back({{fmt::format("{}.{}", moments.name, slot->info.name), slot->info.shape},
                        slot.get(),
                        moments.values.data() + slot->offset});
    }
  }
  return places;
}

std::vector<TensorInfo> OnednnEngine::moments() const {
  std::vector<TensorInfo> infos;
  for (const MomentPlace& place : moment_places()) infos.push_back(place.info);
  return infos;
}

void OnednnEngine::read_moment(const std::string& name, std::span<float> values) const {
  std::vector<std::string> names;
  for (const MomentPlace& place : moment_places()) {
    if (place.info.name == name) return network_.store().read(*place.slot, place.values, values);
    names.push_back(place.info.name);
  }
  throw SpecError("no moment '" + name + "'" + suggestion(name, names));
}

void OnednnEngine::resume(const WeightSource& source, std::int64_t updates) {
  load_parameters(source);
  set_buffers(source);
  network_.refresh_weights();
  std::vector<float> values;
  for (const MomentPlace& place : moment_places()) {
    values.resize(static_cast<std::size_t>(place.info.count()));
    source(place.info, values);
    network_.store().load(*place.slot, place.values, values);
  }
  optimizer_.resume(updates);
  leave_out_time();
}

}  // namespace chexbench::engine::onednn
