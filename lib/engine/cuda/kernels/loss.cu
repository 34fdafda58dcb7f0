#include "engine/cuda/kernels/loss.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename T>
void launch_sigmoid(const LossCall& call, Stream stream) {
  const Loss<T> loss{.logits = static_cast<const T*>(call.logits),
                     .bias = call.bias,
                     .targets = call.targets,
                     .biased = call.biased,
                     .gradient = static_cast<T*>(call.gradient),
                     .scale = &call.scalars->loss_scale,
                     .loss = call.loss,
                     .batch = call.batch,
                     .outputs = call.outputs,
                     .ld = call.ld,
                     .smoothing = call.smoothing,
                     .weights = call.weights};
  launch_blocks(loss, 1, stream);
}

template <typename T>
void launch_softmax(const LossCall& call, Stream stream) {
  const ClassRule rule{.outputs = call.outputs, .smoothing = call.smoothing, .weights = call.weights};
  auto* const rows = reinterpret_cast<SoftmaxRow*>(call.rows);
  float* const mass = call.rows + softmax_floats(call.batch) - 1;
  launch_blocks(SoftmaxRows<T>{.logits = static_cast<const T*>(call.logits),
                               .bias = call.bias,
                               .targets = call.targets,
                               .biased = call.biased,
                               .rows = rows,
                               .ld = call.ld,
                               .rule = rule},
                call.batch, stream);
  launch_blocks(SoftmaxTotal{.rows = rows, .batch = call.batch, .loss = call.loss, .mass = mass}, 1, stream);
  launch_calls(SoftmaxGradient<T>{.biased = call.biased,
                                  .targets = call.targets,
                                  .rows = rows,
                                  .mass = mass,
                                  .scale = &call.scalars->loss_scale,
                                  .gradient = static_cast<T*>(call.gradient),
                                  .ld = call.ld,
                                  .rule = rule},
               std::int64_t{call.batch} * call.ld, stream);
}

}  // namespace

void launch_loss(const LossCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    call.rows != nullptr ? launch_softmax<T>(call, stream) : launch_sigmoid<T>(call, stream);
    const BiasGradient<T> of_bias{static_cast<const T*>(call.gradient), call.bias_gradient, call.batch, call.ld};
    launch_calls(of_bias, call.outputs, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
