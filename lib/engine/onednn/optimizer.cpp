#include "engine/onednn/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/onednn/parallel.hpp"

namespace chexbench::engine::onednn {
namespace {

constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kEpsilon = 1e-8;
// The number of elements that a thread updates at a time: a run of all four arrays fits into an L2 cache.
constexpr std::size_t kRun = 16384;

// As in torch.nn.utils.clip_grad_norm_.
constexpr double kNormEpsilon = 1e-6;

void clear(const FloatArray& array) { std::fill(array.span().begin(), array.span().end(), 0.0f); }

// Calls body(first, count) for each run of `elements`, on all threads.
template <typename Body>
void for_runs(std::size_t elements, const Body& body) {
  parallel_for(static_cast<int>((elements + kRun - 1) / kRun), [&](int run) {
    const std::size_t first = static_cast<std::size_t>(run) * kRun;
    body(first, std::min(kRun, elements - first));
  });
}

// Returns the L2 norm. Runs are added up in their order, so that it has the same bits on any number of threads.
double norm_of(std::span<const float> values) {
  std::vector<double> squares((values.size() + kRun - 1) / kRun);
  for_runs(values.size(), [&](std::size_t first, std::size_t count) {
    double sum = 0;
    for (const float value : values.subspan(first, count))
      sum += static_cast<double>(value) * static_cast<double>(value);
    squares[first / kRun] = sum;
  });
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

}  // namespace

Optimizer::Optimizer(const spec::TrainingSpec& training, Isa isa, std::size_t parameters)
    : training_(training), kernels_(update_kernels(isa)), rate_(training.learning_rate), first_(parameters) {
  if (spec::is_adam(training.optimizer)) second_ = FloatArray(parameters);
  if (training.ema_decay > 0) average_ = FloatArray(parameters);
}

void Optimizer::restart() {
  step_ = 0;
  rate_ = training_.learning_rate;
  for (const FloatArray* array : {&first_, &second_, &average_}) {
    if (array->size() > 0) clear(*array);
  }
}

std::vector<Optimizer::Moments> Optimizer::moments() const {
  std::vector<Moments> moments;
  if (spec::is_adam(training_.optimizer)) {
    moments = {{"exp_avg", first_.span()}, {"exp_avg_sq", second_.span()}};
  } else {
    moments = {{"momentum_buffer", first_.span()}};
  }
  if (average_.size() > 0) moments.push_back({"ema", average_.span()});
  return moments;
}

void Optimizer::swap_average(std::span<float> weights) {
  if (average_.size() == 0 || step_ == 0) return;
  for_runs(weights.size(), [&](std::size_t first, std::size_t count) {
    std::swap_ranges(weights.data() + first, weights.data() + first + count, average_.data() + first);
  });
}

// Returns the factor that brings the norm of all gradients down to the limit; 1 if it is below, or there is none. If
// the norm is NaN, so is the factor, so that the error shows in all weights, as in PyTorch.
float Optimizer::clipping(std::span<const float> gradients) const {
  if (!training_.clip_gradient_norm) return 1;
  const double factor = *training_.clip_gradient_norm / (norm_of(gradients) + kNormEpsilon);
  return factor > 1 ? 1.0f : static_cast<float>(factor);
}

void Optimizer::update(std::span<float> weights, std::span<const float> gradients) {
  ++step_;
  const double correction1 = 1.0 - std::pow(kBeta1, static_cast<double>(step_));
  const double correction2 = 1.0 - std::pow(kBeta2, static_cast<double>(step_));
  const AdamFactors adam{.beta1 = static_cast<float>(kBeta1),
                         .beta2 = static_cast<float>(kBeta2),
                         .rate = static_cast<float>(rate_ / correction1),
                         .root = static_cast<float>(1.0 / std::sqrt(correction2)),
                         .epsilon = static_cast<float>(kEpsilon)};
  const SgdFactors sgd{.rate = static_cast<float>(rate_), .momentum = static_cast<float>(training_.momentum)};
  const bool decoupled = training_.optimizer == spec::OptimizerKind::adamw;
  const Regularization regularization{
      .scale = clipping(gradients),
      .l2 = decoupled ? 0.0f : static_cast<float>(training_.weight_decay),
      .keep = decoupled ? static_cast<float>(1.0 - rate_ * training_.weight_decay) : 1.0f};
  // The average begins with the weights after the first step.
  const float share = step_ == 1 ? 1.0f : static_cast<float>(1.0 - training_.ema_decay);
  for_runs(weights.size(), [&](std::size_t first, std::size_t count) {
    float* const run = weights.data() + first;
    if (spec::is_adam(training_.optimizer)) {
      kernels_.adam(regularization, adam, gradients.data() + first, first_.data() + first, second_.data() + first, run,
                    count);
    } else {
      kernels_.sgd(regularization, sgd, gradients.data() + first, first_.data() + first, run, count);
    }
    if (average_.size() > 0) kernels_.average(share, run, average_.data() + first, count);
  });
}

}  // namespace chexbench::engine::onednn
