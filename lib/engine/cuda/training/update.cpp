#include "engine/cuda/training/update.hpp"

#include "engine/cuda/kernels/gradients.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr float kEpsilon = 1e-8f;

}  // namespace

Update::Update(const Addresses& addresses, const spec::TrainingSpec& training)
    : addresses_(addresses),
      training_(training),
      rules_{.dynamic_scale = training.precision == spec::Precision::fp16,
             .clip_norm = static_cast<float>(training.clip_gradient_norm.value_or(0))} {
  if (!scales_loss()) initial_.loss_scale = 1;
  initial_.learning_rate = static_cast<float>(training.learning_rate);
}

kernels::UpdateCall Update::call(ParameterKind kind) const {
  const ParameterRegions& regions = addresses_.regions().of(kind);
  const bool is_matrix = kind == ParameterKind::matrix;
  kernels::UpdateCall call{.gradient_type = is_matrix ? addresses_.type() : FloatType::f32,
                           .copy_type = is_matrix ? addresses_.type() : FloatType::f32,
                           .count = static_cast<std::int64_t>(addresses_.config().parameters.trained(kind)),
                           .gradient = addresses_.at(regions.gradients),
                           .weight = addresses_.at<float>(regions.weights),
                           .first = addresses_.at<float>(regions.first),
                           .scalars = addresses_.scalars()};
  call.second = addresses_.at_or_null<float>(regions.second);
  call.copy = addresses_.at_or_null<std::byte>(regions.copies);
  call.average = addresses_.at_or_null<float>(regions.average);
  const auto decay = static_cast<float>(training_.weight_decay);
  (training_.optimizer == spec::OptimizerKind::adamw ? call.decay : call.l2) = decay;
  return call;
}

void Update::restart(Stream stream) {
  const DeviceRegions& regions = addresses_.regions();
  for (const ParameterRegions& kind : regions.parameters) {
    clear(addresses_.at(kind.first), kind.first.bytes, stream);
    clear(addresses_.at(kind.second), kind.second.bytes, stream);
    clear(addresses_.at(kind.average), kind.average.bytes, stream);
  }
  copy_to_device(addresses_.scalars(), &initial_, sizeof initial_, stream);
}

void Update::set_learning_rate(double rate, Stream stream) {
  kernels::launch_set_learning_rate(addresses_.scalars(), static_cast<float>(rate), stream);
}

void Update::resume(std::int64_t updates, const LossScale& scale, Stream stream) {
  kernels::StepScalars resumed = initial_;
  // One update at a time, or the powers of Adam's betas would not have the same bits.
  for (std::int64_t i = 0; i < updates; ++i) kernels::advance_optimizer(resumed, rules_);
  if (scales_loss()) {
    resumed.loss_scale = scale.scale;
    resumed.good_steps = scale.good_steps;
    resumed.skipped = scale.skipped;
  }
  copy_to_device(addresses_.scalars(), &resumed, sizeof resumed, stream);
}

// The norm is that of all gradients, so it is known only after the last bucket was averaged.
void Update::queue_norm(Stream stream) const {
  auto* const partials = addresses_.at<double>(addresses_.regions().norm_partials);
  int place = 0;
  for (const ParameterKind kind : kParameterKindList) {
    const kernels::UpdateCall of = call(kind);
    kernels::launch_gradient_squares(of.gradient_type, of.gradient, of.count, partials + place, stream);
    place += kernels::kNormBlocks;
  }
  kernels::launch_gradient_norm(partials, place, addresses_.scalars(), stream);
}

void Update::swap_average(Stream stream) {
  for (const ParameterKind kind : kParameterKindList) {
    if (const kernels::UpdateCall of = call(kind); of.average != nullptr) kernels::launch_swap_average(of, stream);
  }
}

void Update::run(Stream stream) {
  // The check runs in every precision, and after the reduction: values that are not finite must not reach the weights
  // of any rank.
  for (const ParameterKind kind : kParameterKindList) {
    const kernels::UpdateCall of = call(kind);
    kernels::launch_overflow_check(of.gradient_type, of.gradient, of.count, addresses_.scalars(), stream);
  }
  if (training_.clip_gradient_norm) queue_norm(stream);
  kernels::launch_decide(addresses_.scalars(), rules_, stream);
  for (const ParameterKind kind : kParameterKindList) {
    const kernels::UpdateCall of = call(kind);
    if (spec::is_adam(training_.optimizer)) {
      kernels::launch_adam(of, rules_, kEpsilon, stream);
    } else {
      kernels::launch_sgd(of, static_cast<float>(training_.momentum), stream);
    }
    if (of.average != nullptr) kernels::launch_moving_average(of, static_cast<float>(training_.ema_decay), stream);
  }
}

void Update::refresh_copies(Stream stream) {
  kernels::UpdateCall matrices = call(ParameterKind::matrix);
  matrices.count = static_cast<std::int64_t>(addresses_.config().parameters.size(ParameterKind::matrix));
  if (matrices.copy != nullptr) kernels::launch_copy_weights(matrices, stream);
}

}  // namespace chexbench::engine::cuda
