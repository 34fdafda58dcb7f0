#include "engine/cuda/update.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr float kEpsilon = 1e-8f;
constexpr auto kKinds = {ParameterKind::matrix, ParameterKind::vector};

}  // namespace

Update::Update(const Addresses& addresses, const spec::TrainingSpec& training)
    : addresses_(addresses), training_(training), dynamic_scale_(training.precision == spec::Precision::fp16) {
  if (!dynamic_scale_) initial_.loss_scale = 1;
}

kernels::UpdateCall Update::call(ParameterKind kind) const {
  const MemoryPlan& plan = addresses_.config().plan;
  const ParameterRegions& regions = plan.regions.parameters[static_cast<std::size_t>(kind)];
  const bool is_matrix = kind == ParameterKind::matrix;
  kernels::UpdateCall call{.gradient_type = is_matrix ? addresses_.type() : kernels::ElementType::f32,
                           .copy_type = is_matrix ? addresses_.type() : kernels::ElementType::f32,
                           .count = static_cast<std::int64_t>(addresses_.config().parameters.size(kind)),
                           .gradient = addresses_.at(regions.gradients),
                           .weight = addresses_.at<float>(regions.weights),
                           .first = addresses_.at<float>(regions.first),
                           .scalars = addresses_.at<kernels::StepScalars>(plan.regions.scalars)};
  if (regions.second.bytes > 0) call.second = addresses_.at<float>(regions.second);
  if (regions.copies.bytes > 0) call.copy = addresses_.at(regions.copies);
  return call;
}

void Update::restart(Stream stream) {
  const DeviceRegions& regions = addresses_.config().plan.regions;
  for (const ParameterRegions& kind : regions.parameters) {
    clear(addresses_.at(kind.first), kind.first.bytes, stream);
    clear(addresses_.at(kind.second), kind.second.bytes, stream);
  }
  copy_to_device(addresses_.at(regions.scalars), &initial_, sizeof initial_, stream);
}

void Update::run(Stream stream) {
  auto* const scalars = addresses_.at<kernels::StepScalars>(addresses_.config().plan.regions.scalars);
  // In every precision, and behind the reduction: what is not finite must not reach the weights of any rank.
  for (const ParameterKind kind : kKinds) {
    const kernels::UpdateCall of = call(kind);
    kernels::launch_overflow_check(of.gradient_type, of.gradient, of.count, scalars, stream);
  }
  const kernels::StepRules rules{.dynamic_scale = dynamic_scale_,
                                 .learning_rate = static_cast<float>(training_.learning_rate)};
  kernels::launch_decide(scalars, rules, stream);
  for (const ParameterKind kind : kKinds) {
    if (training_.optimizer == spec::OptimizerKind::adam) {
      kernels::launch_adam(call(kind), rules, kEpsilon, stream);
    } else {
      kernels::launch_sgd(call(kind), rules.learning_rate, static_cast<float>(training_.momentum), stream);
    }
  }
}

// An update by a rate of 0 writes the copies, and nothing else where gradients and moments are zero.
void Update::refresh_copies(Stream stream) {
  kernels::UpdateCall matrices = call(ParameterKind::matrix);
  if (matrices.copy == nullptr) return;
  const ParameterRegions& regions = addresses_.config().plan.regions.parameters[0];
  clear(addresses_.at(regions.gradients), regions.gradients.bytes, stream);
  clear(addresses_.at(regions.first), regions.first.bytes, stream);
  kernels::launch_sgd(matrices, 0, 0, stream);
}

}  // namespace chexbench::engine::cuda
