// Reads the tensors of an engine that a checkpoint contains, by name.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/training_engine.hpp"

namespace chexbench::engine {

using Tensors = std::map<std::string, std::vector<float>>;

// Returns the values that `read` copies for each parameter.
inline Tensors read_all(const Engine& engine, void (Engine::*read)(const std::string&, std::span<float>) const) {
  Tensors tensors;
  for (const TensorInfo& info : engine.parameters()) {
    std::vector<float>& values = tensors[info.name];
    values.resize(static_cast<std::size_t>(info.count()));
    (engine.*read)(info.name, values);
  }
  return tensors;
}
inline Tensors weights_of(const Engine& engine) { return read_all(engine, &Engine::read_parameter); }

inline Tensors state_of(Engine& engine) {
  Tensors tensors;
  const auto take = [&tensors](const std::vector<TensorInfo>& infos, auto read) {
    for (const TensorInfo& info : infos) {
      std::vector<float>& values = tensors[info.name];
      values.resize(static_cast<std::size_t>(info.count()));
      read(info.name, values);
    }
  };
  take(engine.parameters(), [&](const auto& name, auto& values) { engine.read_parameter(name, values); });
  take(engine.buffers(), [&](const auto& name, auto& values) { engine.read_buffer(name, values); });
  EpochTraining& training = *engine.epoch_training();
  take(training.moments(), [&](const auto& name, auto& values) { training.read_moment(name, values); });
  return tensors;
}

inline WeightSource source_of(const Tensors& tensors) {
  return [&tensors](const TensorInfo& info, std::span<float> values) {
    std::ranges::copy(tensors.at(info.name), values.begin());
  };
}

}  // namespace chexbench::engine
