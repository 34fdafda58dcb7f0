#include "engine/cuda/training/moments.hpp"

#include <array>

#include "core/errors.hpp"
#include "engine/checks.hpp"
#include "engine/cuda/runtime/fetch.hpp"

namespace chexbench::engine::cuda {
namespace {

const model::TensorInfo kScaler{"grad_scaler", {3}};

}  // namespace

Moments::Moments(const Addresses& addresses, const spec::TrainingSpec& training)
    : addresses_(addresses), scales_loss_(training.precision == spec::Precision::fp16) {
  const bool is_adam = spec::is_adam(training.optimizer);
  const auto add = [&](const std::string& name, Region ParameterRegions::*region) {
    for (const ParameterPlace& place : addresses.config().parameters.places()) {
      if (!addresses.config().parameters.is_trained(place)) continue;
      const ParameterRegions& regions =
          addresses.config().plan.regions.parameters[static_cast<std::size_t>(place.kind)];
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
    const Region& region = addresses_.config().plan.regions.scalars;
    const auto scalars = fetch<kernels::StepScalars>(addresses_.at(region), 1, stream).front();
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
