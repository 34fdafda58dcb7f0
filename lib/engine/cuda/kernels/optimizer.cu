#include "engine/cuda/kernels/optimizer.hpp"

#include "engine/cuda/kernels/launch.cuh"

namespace chexbench::engine::cuda::kernels {
namespace {

// Calls call<G, C>() with the types of the gradients and of the copy.
template <typename Call>
void with_gradient_and_copy(const UpdateCall& call, const Call& launch) {
  const bool known = call.gradient_type == FloatType::f32 || call.copy_type == call.gradient_type;
  check_cuda(known ? cudaSuccess : cudaErrorInvalidValue, "update: the copy has another type than its gradients");
  with_type(call.copy_type, [&]<typename C>() {
    if (call.gradient_type == FloatType::f32) {
      launch.template operator()<float, C>();
    } else {
      launch.template operator()<C, C>();
    }
  });
}

template <typename G, typename C>
Update<G, C> update_of(const UpdateCall& call) {
  Update<G, C> update;
  update.scalars = call.scalars;
  update.gradient = static_cast<const G*>(call.gradient);
  update.first = call.first;
  update.second = call.second;
  update.weight = call.weight;
  update.copy = static_cast<C*>(call.copy);
  update.l2 = call.l2;
  update.decay = call.decay;
  update.count = call.count;
  return update;
}

}  // namespace

void launch_set_learning_rate(StepScalars* scalars, float rate, Stream stream) {
  launch_calls(SetLearningRate{scalars, rate}, 1, stream);
}

void launch_end_batch(StepScalars* scalars, Stream stream) { launch_calls(EndBatch{scalars}, 1, stream); }

void launch_decide(StepScalars* scalars, const StepRules& rules, Stream stream) {
  launch_calls(Decide{scalars, rules}, 1, stream);
}

void launch_adam(const UpdateCall& call, const StepRules& rules, float epsilon, Stream stream) {
  with_gradient_and_copy(call, [&]<typename G, typename C>() {
    Update<G, C> update = update_of<G, C>(call);
    update.beta1 = rules.beta1;
    update.beta2 = rules.beta2;
    update.epsilon = epsilon;
    launch_calls(update, Update<G, C>::calls(call.count), stream);
  });
}

void launch_sgd(const UpdateCall& call, float momentum, Stream stream) {
  with_gradient_and_copy(call, [&]<typename G, typename C>() {
    Update<G, C> update = update_of<G, C>(call);
    update.is_adam = false;
    update.momentum = momentum;
    launch_calls(update, Update<G, C>::calls(call.count), stream);
  });
}

void launch_moving_average(const UpdateCall& call, float decay, Stream stream) {
  launch_calls(MovingAverage{call.scalars, call.weight, call.average, 1.0f - decay}, call.count, stream);
}

void launch_swap_average(const UpdateCall& call, Stream stream) {
  launch_calls(SwapAverage{call.weight, call.average}, call.count, stream);
}

void launch_copy_weights(const UpdateCall& call, Stream stream) {
  with_type(call.copy_type, [&]<typename C>() {
    launch_calls(CopyWeights<C>{call.weight, static_cast<C*>(call.copy)}, call.count, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
