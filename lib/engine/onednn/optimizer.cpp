#include "engine/onednn/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;
// The number of elements that a thread updates at a time: a run of all four arrays fits into an L2 cache.
constexpr std::size_t kRun = 16384;

void clear(const FloatArray& array) { std::fill(array.span().begin(), array.span().end(), 0.0f); }

}  // namespace

Optimizer::Optimizer(const spec::TrainingSpec& training, Isa isa, std::size_t parameters)
    : training_(training), kernels_(update_kernels(isa)), rate_(training.learning_rate), first_(parameters) {
  if (training.optimizer == spec::OptimizerKind::adam) second_ = FloatArray(parameters);
}

void Optimizer::restart() {
  step_ = 0;
  rate_ = training_.learning_rate;
  clear(first_);
  if (second_.size() > 0) clear(second_);
}

std::vector<Optimizer::Moments> Optimizer::moments() const {
  if (training_.optimizer == spec::OptimizerKind::sgd) return {{"momentum_buffer", first_.span()}};
  return {{"exp_avg", first_.span()}, {"exp_avg_sq", second_.span()}};
}

void Optimizer::update(std::span<float> weights, std::span<const float> gradients) {
  ++step_;
  const bool adam = training_.optimizer == spec::OptimizerKind::adam;
  const double correction1 = 1.0 - std::pow(kBeta1, static_cast<double>(step_));
  const double correction2 = 1.0 - std::pow(kBeta2, static_cast<double>(step_));
  const AdamFactors factors{.beta1 = static_cast<float>(kBeta1),
                            .beta2 = static_cast<float>(kBeta2),
                            .rate = static_cast<float>(rate_ / correction1),
                            .root = static_cast<float>(1.0 / std::sqrt(correction2)),
                            .epsilon = static_cast<float>(kEpsilon)};
  const auto rate = static_cast<float>(rate_);
  const auto momentum = static_cast<float>(training_.momentum);
  parallel_for(static_cast<int>((weights.size() + kRun - 1) / kRun), [&](int run) {
    const std::size_t first = static_cast<std::size_t>(run) * kRun;
    const std::size_t count = std::min(kRun, weights.size() - first);
    if (adam) {
      kernels_.adam(factors, gradients.data() + first, first_.data() + first, second_.data() + first,
                    weights.data() + first, count);
    } else {
      kernels_.sgd(rate, momentum, gradients.data() + first, first_.data() + first, weights.data() + first, count);
    }
  });
}

}  // namespace chexbench::engine::onednn
