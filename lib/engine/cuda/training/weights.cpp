#include "engine/cuda/training/weights.hpp"

#include <algorithm>
#include <array>

#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {
namespace {

std::vector<RunningPlace> running_places(const Addresses::Config& config) {
  std::vector<RunningPlace> places;
  for (const model::TensorInfo& info : model::buffers(config.graph)) {
    const std::size_t dot = info.name.rfind('.');
    for (std::size_t i = 0; i < config.program.nodes.size(); ++i) {
      const Node& node = config.program.nodes[i];
      if (node.kind != NodeKind::normalize) continue;
      if (config.graph.layers[static_cast<std::size_t>(node.layer)].name != info.name.substr(0, dot)) continue;
      places.push_back({info, info.name.substr(dot) == ".running_mean", config.plan.regions.norm_offsets[i]});
    }
  }
  return places;
}

std::vector<float> fetch_gradient(const Addresses& addresses, const ParameterPlace& place, Stream stream) {
  if (place.kind == ParameterKind::vector) return fetch<float>(addresses.vector_gradient(place), place.count, stream);
  return fetch_as_floats(addresses.type(), addresses.matrix_gradient(place), place.count, stream);
}

}  // namespace

Weights::Weights(const Addresses& addresses)
    : addresses_(addresses), running_places_(running_places(addresses.config())) {}

std::vector<model::TensorInfo> Weights::parameters() const {
  std::vector<model::TensorInfo> infos;
  for (const ParameterPlace& place : addresses_.config().parameters.places()) infos.push_back(place.parameter.info);
  return infos;
}

std::vector<model::TensorInfo> Weights::buffers() const {
  std::vector<model::TensorInfo> infos;
  for (const RunningPlace& place : running_places_) infos.push_back(place.info);
  return infos;
}

std::size_t Weights::held_bytes() const {
  return sizeof(float) * (initial_.parameters[0].size() + initial_.parameters[1].size() + initial_.mean.size() +
                          initial_.variance.size());
}

Weights::HostRunning Weights::running_of(const model::WeightSource& source) const {
  const std::size_t size = addresses_.regions().norm_offsets.back();
  HostRunning running{std::vector<float>(size), std::vector<float>(size)};
  for (const RunningPlace& place : running_places_) {
    std::vector<float>& all = place.is_mean ? running.mean : running.variance;
    source(place.info, std::span(all).subspan(place.offset, static_cast<std::size_t>(place.info.count())));
  }
  return running;
}

Weights::HostWeights Weights::weights_of(const model::WeightSource& source) const {
  HostWeights weights{running_of(source), {}};
  const ParameterLayout& parameters = addresses_.config().parameters;
  for (const ParameterKind kind : kParameterKindList)
    weights.parameters[static_cast<std::size_t>(kind)].resize(parameters.size(kind));
  std::vector<float> values;
  for (const ParameterPlace& place : parameters.places()) {
    values.resize(static_cast<std::size_t>(place.parameter.info.count()));
    source(place.parameter.info, values);
    std::vector<float>& all = weights.parameters[static_cast<std::size_t>(place.kind)];
    to_device_order(place, values, std::span(all).subspan(place.offset, place.count));
  }
  return weights;
}

void Weights::copy(const Region& to, const std::vector<float>& from, Stream stream) const {
  copy_to_device(addresses_.at(to), from.data(), from.size() * sizeof(float), stream);
}

void Weights::copy(const HostRunning& running, Stream stream) const {
  const DeviceRegions& regions = addresses_.regions();
  copy(regions.running_mean, running.mean, stream);
  copy(regions.running_variance, running.variance, stream);
  synchronize(stream);
}

void Weights::copy(const HostWeights& weights, Stream stream) const {
  const DeviceRegions& regions = addresses_.regions();
  for (std::size_t kind = 0; kind < kParameterKinds; ++kind)
    copy(regions.parameters[kind].weights, weights.parameters[kind], stream);
  copy(static_cast<const HostRunning&>(weights), stream);
}

void Weights::read_parameter(const std::string& name, std::span<float> values, Stream stream) const {
  const ParameterPlace& place = addresses_.config().parameters.place(name);
  const Region& weights = addresses_.regions().of(place.kind).weights;
  from_device_order(place, fetch<float>(addresses_.at<float>(weights, place.offset), place.count, stream), values);
}

void Weights::read_gradient(const std::string& name, std::span<float> values, Stream stream) const {
  const ParameterPlace& place = addresses_.config().parameters.place(name);
  from_device_order(place, fetch_gradient(addresses_, place, stream), values);
  const auto scalars = fetch<kernels::StepScalars>(addresses_.scalars(), 1, stream).front();
  for (float& value : values) value *= scalars.unscale;
}

const RunningPlace& Weights::running_place(const std::string& name) const {
  const auto found =
      std::ranges::find(running_places_, name, [](const RunningPlace& place) { return place.info.name; });
  if (found != running_places_.end()) return *found;
  std::vector<std::string> names;
  for (const RunningPlace& place : running_places_) names.push_back(place.info.name);
  throw SpecError("no buffer '" + name + "'" + suggestion(name, names));
}

void Weights::read_buffer(const std::string& name, std::span<float> values, Stream stream) const {
  const RunningPlace& place = running_place(name);
  check_size(place.info, values.size());
  const DeviceRegions& regions = addresses_.regions();
  const Region& region = place.is_mean ? regions.running_mean : regions.running_variance;
  std::ranges::copy(fetch<float>(addresses_.at<float>(region, place.offset), values.size(), stream), values.begin());
}

namespace {

const model::TensorInfo kScaler{"grad_scaler", {3}};

}  // namespace

Moments::Moments(const Addresses& addresses, const spec::TrainingSpec& training)
    : addresses_(addresses), scales_loss_(training.precision == spec::Precision::fp16) {
  const bool is_adam = spec::is_adam(training.optimizer);
  const auto add = [&](const std::string& name, Region ParameterRegions::*region) {
    for (const ParameterPlace& place : addresses.config().parameters.places()) {
      if (!addresses.config().parameters.is_trained(place)) continue;
      const ParameterRegions& regions = addresses.regions().of(place.kind);
      const model::TensorInfo& of = place.parameter.info;
      places_.push_back({{name + '.' + of.name, of.shape}, &place, addresses.at<float>(regions.*region, place.offset)});
    }
  };
  add(is_adam ? "exp_avg" : "momentum_buffer", &ParameterRegions::first);
  if (is_adam) add("exp_avg_sq", &ParameterRegions::second);
  if (training.ema_decay > 0) add("ema", &ParameterRegions::average);
}

std::vector<model::TensorInfo> Moments::infos() const {
  std::vector<model::TensorInfo> infos;
  for (const Place& place : places_) infos.push_back(place.info);
  if (scales_loss_) infos.push_back(kScaler);
  return infos;
}

void Moments::read(const std::string& name, std::span<float> values, Stream stream) const {
  if (scales_loss_ && name == kScaler.name) {
    check_size(kScaler, values.size());
    const auto scalars = fetch<kernels::StepScalars>(addresses_.scalars(), 1, stream).front();
    values[0] = scalars.loss_scale;
    values[1] = static_cast<float>(scalars.good_steps);
    values[2] = static_cast<float>(scalars.skipped);
    return;
  }
  std::vector<std::string> names;
  for (const Place& place : places_) {
    if (place.info.name == name)
      return from_device_order(*place.parameter, fetch<float>(place.values, place.parameter->count, stream), values);
    names.push_back(place.info.name);
  }
  throw SpecError("no moment '" + name + "'" + suggestion(name, names));
}

LossScale Moments::load(const model::WeightSource& source, Stream stream) const {
  std::vector<float> values, device;
  for (const Place& place : places_) {
    values.resize(static_cast<std::size_t>(place.info.count()));
    device.resize(place.parameter->count);
    source(place.info, values);
    to_device_order(*place.parameter, values, device);
    copy_to_device(place.values, device.data(), device.size() * sizeof(float), stream);
    synchronize(stream);
  }
  if (!scales_loss_) return {};
  std::array<float, 3> scaler{};
  source(kScaler, scaler);
  return {scaler[0], static_cast<std::int32_t>(scaler[1]), static_cast<std::int32_t>(scaler[2])};
}

}  // namespace chexbench::engine::cuda
