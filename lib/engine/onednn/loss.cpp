#include "engine/onednn/loss.hpp"

#include <cmath>

#include "core/batch.hpp"

namespace chexbench::engine::onednn {

double binary_cross_entropy(std::span<const float> logits, std::span<const float> targets, std::span<float> gradient) {
  const auto count = static_cast<double>(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    gradient[i] = 0;
    if (targets[i] == kIgnoredLabel) continue;
    const double z = static_cast<double>(logits[i]), t = static_cast<double>(targets[i]);
    sum += (z > 0 ? z : 0.0) - z * t + std::log1p(std::exp(-std::abs(z)));
    gradient[i] = static_cast<float>((1.0 / (1.0 + std::exp(-z)) - t) / count);
  }
  return sum / count;
}

}  // namespace chexbench::engine::onednn
