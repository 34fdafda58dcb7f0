#include "engine/cuda/kernels/loss.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/step_launch.hpp"

namespace chexbench::engine::cuda::kernels {

void launch_loss(const LossCall& call, Stream stream) {
  with_type(call.type, [&]<typename T>() {
    const Loss<T> loss{.logits = static_cast<const T*>(call.logits),
                       .bias = call.bias,
                       .targets = call.targets,
                       .biased = call.biased,
                       .gradient = static_cast<T*>(call.gradient),
                       .scale = &call.scalars->loss_scale,
                       .loss = call.loss,
                       .batch = call.batch,
                       .outputs = call.outputs,
                       .ld = call.ld};
    launch_blocks(loss, 1, stream);
    const BiasGradient<T> of_bias{static_cast<const T*>(call.gradient), call.bias_gradient, call.batch, call.ld};
    launch_calls(of_bias, call.outputs, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
