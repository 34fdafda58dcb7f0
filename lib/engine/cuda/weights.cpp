#include "engine/cuda/weights.hpp"

#include <algorithm>

#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/kernels/step_scalars.hpp"

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

template <typename T>
std::vector<T> fetch(const void* from, std::size_t count, Stream stream) {
  std::vector<T> values(count);
  copy_to_host(values.data(), from, count * sizeof(T), stream);
  synchronize(stream);
  return values;
}

template <typename T>
std::vector<float> fetch_widened(const void* from, std::size_t count, Stream stream) {
  std::vector<float> wide(count);
  std::ranges::transform(fetch<T>(from, count, stream), wide.begin(), kernels::Element<T>::widen);
  return wide;
}

std::vector<float> fetch_gradient(const Addresses& addresses, const ParameterPlace& place, Stream stream) {
  const bool is_vector = place.kind == ParameterKind::vector;
  const void* const from = is_vector ? addresses.vector_gradient(place) : addresses.matrix_gradient(place);
  if (is_vector || addresses.type() == kernels::ElementType::f32) return fetch<float>(from, place.count, stream);
  return addresses.type() == kernels::ElementType::f16 ? fetch_widened<kernels::Half>(from, place.count, stream)
                                                       : fetch_widened<kernels::BFloat16>(from, place.count, stream);
}

}  // namespace

Weights::Weights(const Addresses& addresses)
    : addresses_(addresses), running_places_(running_places(addresses.config())) {
  for (const auto kind : {ParameterKind::matrix, ParameterKind::vector})
    initial_[static_cast<std::size_t>(kind)].resize(addresses.config().parameters.size(kind));
  initial_mean_.resize(addresses.config().plan.regions.norm_offsets.back());
  initial_variance_.resize(initial_mean_.size());
}

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
  return sizeof(float) * (initial_[0].size() + initial_[1].size() + initial_mean_.size() + initial_variance_.size());
}

void Weights::fill(const model::WeightSource& source) {
  std::vector<float> values;
  for (const ParameterPlace& place : addresses_.config().parameters.places()) {
    values.resize(static_cast<std::size_t>(place.parameter.info.count()));
    source(place.parameter.info, values);
    to_device_order(place, values,
                    std::span(initial_[static_cast<std::size_t>(place.kind)]).subspan(place.offset, place.count));
  }
  for (const RunningPlace& place : running_places_) {
    std::vector<float>& all = place.is_mean ? initial_mean_ : initial_variance_;
    source(place.info, std::span(all).subspan(place.offset, static_cast<std::size_t>(place.info.count())));
  }
}

void Weights::restart(Stream stream) {
  const DeviceRegions& regions = addresses_.config().plan.regions;
  const auto copy = [&](const Region& to, const std::vector<float>& from) {
    copy_to_device(addresses_.at(to), from.data(), from.size() * sizeof(float), stream);
  };
  for (std::size_t kind = 0; kind < kParameterKinds; ++kind) copy(regions.parameters[kind].weights, initial_[kind]);
  copy(regions.running_mean, initial_mean_);
  copy(regions.running_variance, initial_variance_);
  synchronize(stream);
}

void Weights::read_parameter(const std::string& name, std::span<float> values, Stream stream) const {
  const ParameterPlace& place = addresses_.config().parameters.place(name);
  const Region& weights = addresses_.config().plan.regions.parameters[static_cast<std::size_t>(place.kind)].weights;
  from_device_order(place, fetch<float>(addresses_.at<float>(weights, place.offset), place.count, stream), values);
}

void Weights::read_gradient(const std::string& name, std::span<float> values, Stream stream) const {
  const ParameterPlace& place = addresses_.config().parameters.place(name);
  from_device_order(place, fetch_gradient(addresses_, place, stream), values);
  const auto scalars =
      fetch<kernels::StepScalars>(addresses_.at(addresses_.config().plan.regions.scalars), 1, stream).front();
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
  const DeviceRegions& regions = addresses_.config().plan.regions;
  const Region& region = place.is_mean ? regions.running_mean : regions.running_variance;
  std::ranges::copy(fetch<float>(addresses_.at<float>(region, place.offset), values.size(), stream), values.begin());
}

}  // namespace chexbench::engine::cuda
