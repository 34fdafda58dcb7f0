#include "engine/cuda/kernels/accumulate.hpp"

#include "engine/cuda/kernels/launch.cuh"
#include "engine/cuda/kernels/step_launch.hpp"

namespace chexbench::engine::cuda::kernels {

void launch_accumulate(const AccumulateCall& call, bool begins, Stream stream) {
  with_type(call.type, [&]<typename G>() {
    launch_calls(AddToSum<G>{static_cast<const G*>(call.gradient), call.sum, begins}, call.count, stream);
  });
}

void launch_average(const AccumulateCall& call, int batches, Stream stream) {
  const float share = 1.0f / static_cast<float>(batches);
  with_type(call.type, [&]<typename G>() {
    launch_calls(TakeMean<G>{static_cast<G*>(call.gradient), call.sum, share}, call.count, stream);
  });
}

}  // namespace chexbench::engine::cuda::kernels
