// Reads the gradients of an engine as vectors and computes how far two of them are apart.
#pragma once

#include <cmath>
#include <vector>

#include "engine/engine.hpp"

namespace chexbench::engine {

inline std::vector<float> gradient(const Engine& engine, const TensorInfo& info) {
  std::vector<float> values(static_cast<std::size_t>(info.count()));
  engine.read_gradient(info.name, values);
  return values;
}

inline double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return norm(difference);
}

}  // namespace chexbench::engine
