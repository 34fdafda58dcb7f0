#include "engine/onednn/loss.hpp"

#include <algorithm>
#include <cmath>

#include "core/batch.hpp"

namespace chexbench::engine::onednn {
namespace {

double weight_of(const LossRule& rule, std::size_t output) {
  return rule.weights.empty() ? 1.0 : static_cast<double>(rule.weights[output]);
}

double sigmoid_loss(const LossRule& rule, std::size_t outputs, std::span<const float> logits,
                    std::span<const float> targets, std::span<float> gradient) {
  const auto count = static_cast<double>(logits.size());
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    gradient[i] = 0;
    if (targets[i] == kIgnoredLabel) continue;
    const auto z = static_cast<double>(logits[i]);
    const double t = static_cast<double>(targets[i]) * (1 - rule.smoothing) + rule.smoothing / 2;
    const double extra = (weight_of(rule, i % outputs) - 1) * t;
    const double tail = std::log1p(std::exp(-std::abs(z))), probability = 1.0 / (1.0 + std::exp(-z));
    sum += (z > 0 ? z : 0.0) - z * t + tail + extra * ((z < 0 ? -z : 0.0) + tail);
    gradient[i] = static_cast<float>((probability - t + extra * (probability - 1)) / count);
  }
  return sum / count;
}

// One image of a task of classes.
struct Row {
  std::span<const float> logits, targets;
  double log_sum = 0;     // of the exponentials of the logits
  double class_mass = 0;  // weights times targets
};

Row row_of(const LossRule& rule, std::span<const float> logits, std::span<const float> targets) {
  Row row{.logits = logits, .targets = targets};
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    sum += std::exp(static_cast<double>(logits[c]) - largest);
    row.class_mass += weight_of(rule, c) * static_cast<double>(targets[c]);
  }
  row.log_sum = largest + std::log(sum);
  return row;
}

double softmax_loss(const LossRule& rule, std::size_t outputs, std::span<const float> logits,
                    std::span<const float> targets, std::span<float> gradient) {
  std::vector<Row> rows;
  double mass = 0;
  for (std::size_t at = 0; at < logits.size(); at += outputs) {
    rows.push_back(row_of(rule, logits.subspan(at, outputs), targets.subspan(at, outputs)));
    mass += rows.back().class_mass;
  }
  const auto share = [&](const Row& row, std::size_t c) {
    const double target = static_cast<double>(row.targets[c]) * (1 - rule.smoothing);
    return weight_of(rule, c) * (target + rule.smoothing / static_cast<double>(outputs));
  };
  double sum = 0;
  auto to = gradient.begin();
  for (const Row& row : rows) {
    double shares = 0;
    for (std::size_t c = 0; c < outputs; ++c) {
      shares += share(row, c);
      sum += share(row, c) * (row.log_sum - static_cast<double>(row.logits[c]));
    }
    for (std::size_t c = 0; c < outputs; ++c) {
      const double probability = std::exp(static_cast<double>(row.logits[c]) - row.log_sum);
      *to++ = static_cast<float>((probability * shares - share(row, c)) / mass);
    }
  }
  return sum / mass;
}

}  // namespace

double loss_of(const LossRule& rule, std::size_t outputs, std::span<const float> logits, std::span<const float> targets,
               std::span<float> gradient) {
  const auto compute = rule.task == spec::Task::classes ? softmax_loss : sigmoid_loss;
  return compute(rule, outputs, logits, targets, gradient);
}

}  // namespace chexbench::engine::onednn
